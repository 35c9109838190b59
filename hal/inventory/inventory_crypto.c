/* SPDX-License-Identifier: BSD-3-Clause */
/* What a crypto device can do, of what IPsec asks for. */

#include <errno.h>

#include <rte_cryptodev.h>
#include <rte_security.h>

#include "hal/internal/hal.h"

/* An algorithm's longest key (of ciphers and AEADs) or digest (of hashes), in bits. */
static const struct algorithm {
	enum hy_cap cap;
	struct rte_cryptodev_sym_capability_idx idx;
} algorithms[] = {
	{ HY_CAP_CRYPTO_AES_GCM,
		{ .type = RTE_CRYPTO_SYM_XFORM_AEAD, .algo.aead = RTE_CRYPTO_AEAD_AES_GCM } },
	{ HY_CAP_CRYPTO_CHACHA20,
		{ .type = RTE_CRYPTO_SYM_XFORM_AEAD,
			.algo.aead = RTE_CRYPTO_AEAD_CHACHA20_POLY1305 } },
	{ HY_CAP_CRYPTO_AES_CBC,
		{ .type = RTE_CRYPTO_SYM_XFORM_CIPHER, .algo.cipher = RTE_CRYPTO_CIPHER_AES_CBC } },
	{ HY_CAP_CRYPTO_AES_CTR,
		{ .type = RTE_CRYPTO_SYM_XFORM_CIPHER, .algo.cipher = RTE_CRYPTO_CIPHER_AES_CTR } },
	{ HY_CAP_CRYPTO_SHA1_HMAC,
		{ .type = RTE_CRYPTO_SYM_XFORM_AUTH, .algo.auth = RTE_CRYPTO_AUTH_SHA1_HMAC } },
	{ HY_CAP_CRYPTO_SHA256_HMAC,
		{ .type = RTE_CRYPTO_SYM_XFORM_AUTH, .algo.auth = RTE_CRYPTO_AUTH_SHA256_HMAC } },
};

static void
probe_algorithms(uint8_t id, struct hy_capability *caps)
{
	for (unsigned int i = 0; i < RTE_DIM(algorithms); i++) {
		const struct algorithm *a = &algorithms[i];
		const struct rte_cryptodev_symmetric_capability *sym =
			rte_cryptodev_sym_capability_get(id, &a->idx);
		uint64_t bytes;

		if (sym == NULL) {
			hy_cap_fill(&caps[a->cap], HY_LEVEL_NO, 0, "the driver does not list it");
			continue;
		}
		if (a->idx.type == RTE_CRYPTO_SYM_XFORM_AEAD)
			bytes = sym->aead.key_size.max;
		else if (a->idx.type == RTE_CRYPTO_SYM_XFORM_CIPHER)
			bytes = sym->cipher.key_size.max;
		else
			bytes = sym->auth.digest_size.max;
		hy_cap_fill(&caps[a->cap], HY_LEVEL_YES, 8 * bytes, "the driver lists it");
	}
}

/* Whether it takes and gives whole ESP packets. */
static void
probe_ipsec(uint8_t id, struct hy_capability *cap)
{
	const struct rte_security_capability *offer = NULL;
	void *context = rte_cryptodev_get_sec_ctx(id);
	bool has = false;

	if (context != NULL)
		offer = rte_security_capabilities_get(context);
	for (; offer != NULL && offer->action != RTE_SECURITY_ACTION_TYPE_NONE; offer++)
		has |= offer->action == RTE_SECURITY_ACTION_TYPE_LOOKASIDE_PROTOCOL &&
			offer->protocol == RTE_SECURITY_PROTOCOL_IPSEC;
	if (has)
		hy_cap_fill(cap, HY_LEVEL_YES, 0, "the driver lists it as a lookaside protocol");
	else if (context == NULL)
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver has no rte_security context");
	else
		hy_cap_fill(cap, HY_LEVEL_NO, 0, "the driver has rte_security for other protocols");
}

static void
probe_device(uint8_t id, const struct rte_cryptodev_info *info, struct hy_capability *caps)
{
	const uint64_t has = info->feature_flags;

	hy_cap_limit(&caps[HY_CAP_CRYPTO_QPS], info->max_nb_queue_pairs);
	hy_cap_flag(&caps[HY_CAP_CRYPTO_SYM], (has & RTE_CRYPTODEV_FF_SYMMETRIC_CRYPTO) != 0,
		"SYMMETRIC_CRYPTO");
	hy_cap_flag(&caps[HY_CAP_CRYPTO_ASYM], (has & RTE_CRYPTODEV_FF_ASYMMETRIC_CRYPTO) != 0,
		"ASYMMETRIC_CRYPTO");
	hy_cap_flag(&caps[HY_CAP_CRYPTO_CHAIN],
		(has & RTE_CRYPTODEV_FF_SYM_OPERATION_CHAINING) != 0, "SYM_OPERATION_CHAINING");
	hy_cap_flag(&caps[HY_CAP_CRYPTO_SEGMENTS], (has & RTE_CRYPTODEV_FF_IN_PLACE_SGL) != 0,
		"IN_PLACE_SGL");
	probe_ipsec(id, &caps[HY_CAP_CRYPTO_IPSEC]);
	probe_algorithms(id, caps);
}

int
hy_probe_crypto(struct hy_device_list *list)
{
	for (uint8_t id = 0; id < RTE_CRYPTO_MAX_DEVS; id++) {
		struct rte_cryptodev_info info;
		struct hy_hal_device *dev;

		if (!rte_cryptodev_is_valid_dev(id))
			continue;
		rte_cryptodev_info_get(id, &info);
		dev = hy_device_add(list, (struct hy_target){ .kind = HY_TARGET_CRYPTO, .id = id },
			rte_cryptodev_name_get(id), info.driver_name);
		if (dev == NULL)
			return -ENOMEM;
		probe_device(id, &info, dev->caps);
	}
	return 0;
}
