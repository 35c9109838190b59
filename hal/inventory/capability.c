/* SPDX-License-Identifier: BSD-3-Clause */
/* All capabilities, their kinds of targets, and the names of both. */

#include <errno.h>
#include <string.h>

#include <hy_plugin.h>

#include "hal/internal/hal.h"
#include "lib/graph/internal/plugin_notes.h"

static const struct hy_cap_desc caps[HY_CAPS] = {
	[HY_CAP_NONE] = { "none", HY_TARGET_KINDS },

	[HY_CAP_SIMD_BITS] = { "simd_bits", HY_TARGET_PROCESS },
	[HY_CAP_AVX2] = { "avx2", HY_TARGET_PROCESS },
	[HY_CAP_AVX512] = { "avx512", HY_TARGET_PROCESS },
	[HY_CAP_NEON] = { "neon", HY_TARGET_PROCESS },

	[HY_CAP_RX_QUEUES] = { "rx_queues", HY_TARGET_PORT },
	[HY_CAP_TX_QUEUES] = { "tx_queues", HY_TARGET_PORT },
	[HY_CAP_RX_PTYPE_IP4] = { "rx_ptype_ip4", HY_TARGET_PORT },
	[HY_CAP_RX_CHECKSUM_IP4] = { "rx_checksum_ip4", HY_TARGET_PORT },
	[HY_CAP_RX_SCATTER] = { "rx_scatter", HY_TARGET_PORT },
	[HY_CAP_TX_CHECKSUM_IP4] = { "tx_checksum_ip4", HY_TARGET_PORT },
	[HY_CAP_TX_SEGMENTS] = { "tx_segments", HY_TARGET_PORT },
	[HY_CAP_TX_FAST_FREE] = { "tx_fast_free", HY_TARGET_PORT },
	[HY_CAP_ANY_POOL] = { "any_pool", HY_TARGET_PORT },
	[HY_CAP_RX_METADATA_MARK] = { "rx_mark", HY_TARGET_PORT },
	[HY_CAP_FLOW_MARK] = { "flow_mark", HY_TARGET_PORT },
	[HY_CAP_FLOW_PRIORITY] = { "flow_priority", HY_TARGET_PORT },
	[HY_CAP_RUNNING] = { "running", HY_TARGET_PORT },

	[HY_CAP_EVENT_QUEUES] = { "queues", HY_TARGET_EVENT },
	[HY_CAP_EVENT_PORTS] = { "ports", HY_TARGET_EVENT },
	[HY_CAP_EVENT_ATOMIC] = { "atomic", HY_TARGET_EVENT },
	[HY_CAP_EVENT_ORDERED] = { "ordered", HY_TARGET_EVENT },
	[HY_CAP_EVENT_PARALLEL] = { "parallel", HY_TARGET_EVENT },
	[HY_CAP_EVENT_ALL_TYPES] = { "all_types", HY_TARGET_EVENT },
	[HY_CAP_EVENT_FLOW_ID] = { "flow_id", HY_TARGET_EVENT },
	[HY_CAP_EVENT_NO_SERVICE] = { "no_service", HY_TARGET_EVENT },
	[HY_CAP_EVENT_RECONFIGURE] = { "reconfigure", HY_TARGET_EVENT },

	[HY_CAP_EVENT_RX_INTERNAL] = { "rx_internal", HY_TARGET_EVENT_PORT },
	[HY_CAP_EVENT_RX_VECTOR] = { "rx_vector", HY_TARGET_EVENT_PORT },
	[HY_CAP_EVENT_RX_FLOW_ID] = { "rx_flow_id", HY_TARGET_EVENT_PORT },
	[HY_CAP_EVENT_TX_INTERNAL] = { "tx_internal", HY_TARGET_EVENT_PORT },
	[HY_CAP_EVENT_TX_VECTOR] = { "tx_vector", HY_TARGET_EVENT_PORT },

	[HY_CAP_CRYPTO_QPS] = { "crypto_qps", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_SYM] = { "sym", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_ASYM] = { "asym", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_CHAIN] = { "chain", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_SEGMENTS] = { "segments", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_IPSEC] = { "ipsec", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_AES_GCM] = { "aes_gcm", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_AES_CBC] = { "aes_cbc", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_AES_CTR] = { "aes_ctr", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_CHACHA20] = { "chacha20", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_SHA1_HMAC] = { "sha1_hmac", HY_TARGET_CRYPTO },
	[HY_CAP_CRYPTO_SHA256_HMAC] = { "sha256_hmac", HY_TARGET_CRYPTO },

	[HY_CAP_EVENT_CRYPTO_NEW] = { "crypto_new", HY_TARGET_EVENT_CRYPTO },
	[HY_CAP_EVENT_CRYPTO_FWD] = { "crypto_forward", HY_TARGET_EVENT_CRYPTO },
	[HY_CAP_EVENT_CRYPTO_VECTOR] = { "crypto_vector", HY_TARGET_EVENT_CRYPTO },

	[HY_CAP_REGEX_QPS] = { "regex_qps", HY_TARGET_REGEX },
	[HY_CAP_REGEX_PAYLOAD] = { "regex_payload", HY_TARGET_REGEX },
	[HY_CAP_REGEX_MATCHES] = { "regex_matches", HY_TARGET_REGEX },
	[HY_CAP_REGEX_GROUPS] = { "regex_groups", HY_TARGET_REGEX },
	[HY_CAP_REGEX_RULES] = { "regex_rules", HY_TARGET_REGEX },
};

static const char *const levels[] = { "no", "unknown", "yes" };

/* The name of one target, to be followed by its id; and the plural. */
static const struct {
	const char *one;
	const char *all;
} kinds[HY_TARGET_KINDS] = {
	[HY_TARGET_PROCESS] = { "process", "the process" },
	[HY_TARGET_PORT] = { "port", "ports" },
	[HY_TARGET_EVENT] = { "event device", "event devices" },
	[HY_TARGET_CRYPTO] = { "crypto device", "crypto devices" },
	[HY_TARGET_REGEX] = { "regex device", "regex devices" },
	[HY_TARGET_EVENT_PORT] = { "pair", "event devices with ports" },
	[HY_TARGET_EVENT_CRYPTO] = { "pair", "event devices with crypto devices" },
};

/* Capabilities of packs; with gaps where plugins were unloaded. */
static const struct hy_cap_desc *added[HY_CAPS_ADDED];

const struct hy_cap_desc *
hy_cap_desc(enum hy_cap cap)
{
	const unsigned int at = (unsigned int)cap;

	if (at < HY_CAPS)
		return &caps[at];
	return at < HY_CAPS_MAX ? added[at - HY_CAPS] : NULL;
}

static void
cap_undo(uintptr_t what)
{
	for (unsigned int i = 0; i < HY_CAPS_ADDED; i++)
		if ((uintptr_t)added[i] == what)
			added[i] = NULL;
}

static bool
cap_busy(uintptr_t what __rte_unused, char *error)
{
	if (hy_hal_exists())
		snprintf(error, HY_PLUGIN_ERROR_SIZE,
			"it has capabilities, and a HAL exists; destroy that first");
	return hy_hal_exists();
}

static const struct hy_plugin_kind cap_kind = { cap_busy, cap_undo };

int
hy_cap_register(const struct hy_cap_desc *desc)
{
	unsigned int i = 0;

	if (!hy_name_valid(desc->key) || desc->kind >= HY_TARGET_KINDS)
		return -EINVAL;
	if (hy_cap_find(desc->key) != HY_CAP_NONE)
		return -EEXIST;
	while (i < HY_CAPS_ADDED && added[i] != NULL)
		i++;
	if (i == HY_CAPS_ADDED)
		return -ENOSPC;
	added[i] = desc;
	hy_plugin_registered(&cap_kind, (uintptr_t)desc);
	return 0;
}

enum hy_cap
hy_cap_find(const char *name)
{
	for (int c = HY_CAP_NONE + 1; c < HY_CAPS_MAX; c++)
		if (hy_cap_kind(c) != HY_TARGET_KINDS && strcmp(hy_cap_name(c), name) == 0)
			return c;
	return HY_CAP_NONE;
}

const char *
hy_cap_name(enum hy_cap cap)
{
	const struct hy_cap_desc *desc = hy_cap_desc(cap);

	return desc != NULL ? desc->key : "none";
}

enum hy_target_kind
hy_cap_kind(enum hy_cap cap)
{
	const struct hy_cap_desc *desc = hy_cap_desc(cap);

	return desc != NULL ? desc->kind : HY_TARGET_KINDS;
}

bool
hy_cap_concerns(enum hy_target_kind kind, enum hy_cap cap)
{
	return kind < HY_TARGET_KINDS && hy_cap_kind(cap) == kind;
}

const char *
hy_level_name(enum hy_level level)
{
	return levels[level];
}

int
hy_level_find(const char *name)
{
	for (unsigned int l = 0; l < RTE_DIM(levels); l++)
		if (strcmp(levels[l], name) == 0)
			return (int)l;
	return -1;
}

const char *
hy_origin_name(enum hy_origin origin)
{
	static const char *const names[] = { "declared", "probed", "observed", "overridden" };

	return names[origin];
}

const char *
hy_kind_names(enum hy_target_kind kind)
{
	return kinds[kind].all;
}

const char *
hy_target_text(struct hy_target target, char *text, size_t size)
{
	const enum hy_target_kind peer = hy_target_peer(target).kind;

	if (target.kind == HY_TARGET_PROCESS)
		snprintf(text, size, "%s", kinds[target.kind].one);
	else if (peer == HY_TARGET_PROCESS)
		snprintf(text, size, "%s %u", kinds[target.kind].one, target.id);
	else
		snprintf(text, size, "%s %u with %s %u", kinds[HY_TARGET_EVENT].one, target.id,
			kinds[peer].one, target.peer);
	return text;
}

bool
hy_target_same(struct hy_target a, struct hy_target b)
{
	return a.kind == b.kind && a.id == b.id && a.peer == b.peer;
}

/* The first device of a pair; other targets unchanged. */
struct hy_target
hy_target_device(struct hy_target target)
{
	if (hy_target_peer(target).kind == HY_TARGET_PROCESS)
		return target;
	return (struct hy_target){ .kind = HY_TARGET_EVENT, .id = target.id };
}

/* The second device of a pair; the process for other targets. */
struct hy_target
hy_target_peer(struct hy_target target)
{
	switch (target.kind) {
	case HY_TARGET_EVENT_PORT:
		return (struct hy_target){ .kind = HY_TARGET_PORT, .id = target.peer };
	case HY_TARGET_EVENT_CRYPTO:
		return (struct hy_target){ .kind = HY_TARGET_CRYPTO, .id = target.peer };
	default:
		return (struct hy_target){ .kind = HY_TARGET_PROCESS };
	}
}
