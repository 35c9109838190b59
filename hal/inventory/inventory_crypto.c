/* SPDX-License-Identifier: BSD-3-Clause */
/* What a crypto device can do, as far as IPsec needs it. */

#include <errno.h>

#include <rte_cryptodev.h>
#include <rte_security.h>

#include "hal/internal/hal.h"

/* The value is the longest key (ciphers, AEADs) or digest (hashes), in bits. */
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

/* Whether it processes whole ESP packets. */
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
#define FLAG(cap, flag) HY_CAP_FLAG(HY_CAP_CRYPTO_##cap, RTE_CRYPTODEV_FF_, flag)
	static const struct hy_cap_flag flags[] = { FLAG(SYM, SYMMETRIC_CRYPTO),
		FLAG(ASYM, ASYMMETRIC_CRYPTO), FLAG(CHAIN, SYM_OPERATION_CHAINING),
		FLAG(SEGMENTS, IN_PLACE_SGL) };

	hy_cap_limit(&caps[HY_CAP_CRYPTO_QPS], info->max_nb_queue_pairs);
	hy_cap_flags(caps, info->feature_flags, flags, RTE_DIM(flags));
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
