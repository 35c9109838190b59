/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The header for node files: the fast path, and the declaration of families and variants.
 *
 * The file of its reference variant declares a family. A variant for an ISA or a vendor is another
 * file with its kernel and one HY_NODE_VARIANT that states its needs; no other file names it.
 */
#pragma once

#include <rte_common.h>

#include <hy_graph_worker.h>
#include <hy_hal.h>
#include <hy_plugin.h>

/** @cond What node files use of the HAL's headers: see HY_PLUGIN_NUMBERS(). */
#define HY_HAL_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_family), HY_PLUGIN_SIZE(struct hy_variant), \
		HY_PLUGIN_SIZE(struct hy_fusion), HY_PLUGIN_SIZE(struct hy_need), \
		HY_PLUGIN_SIZE(struct hy_with), HY_PLUGIN_SIZE(struct hy_target), \
		HY_PLUGIN_SIZE(struct hy_capability), HY_PLUGIN_SIZE(struct hy_cap_desc), \
		HY_PLUGIN_COUNT(HY_CAPS), HY_PLUGIN_COUNT(HY_TARGET_KINDS)
/** @endcond */

/**
 * Declares and registers a family: HY_NODE_FAMILY(ttl_guard, .node = { .name = "ttl_guard", … },
 * .score = 10). The fields are those of struct hy_family; pack is filled in.
 */
#define HY_NODE_FAMILY(name_, ...) \
	static const struct hy_family hy_family_##name_ = { .pack = HY_PACK, __VA_ARGS__ }; \
	HY_PLUGIN_NUMBERS(family_##name_, HY_HAL_NUMBERS); \
	RTE_INIT(hy_family_register_##name_) \
	{ \
		hy_registration_check(#name_, hy_family_register(&hy_family_##name_)); \
	}

/**
 * Declares and registers a variant: HY_NODE_VARIANT(ttl_guard, avx2, .impl.process = …, .score =
 * 20). The fields are those of struct hy_variant; family and impl.variant are filled in.
 */
#define HY_NODE_VARIANT(family_, name_, ...) \
	static const struct hy_variant hy_variant_##family_##_##name_ = { \
		.family = #family_, .pack = HY_PACK, .impl.variant = #name_, __VA_ARGS__ \
	}; \
	HY_PLUGIN_NUMBERS(variant_##family_##_##name_, HY_HAL_NUMBERS); \
	RTE_INIT(hy_variant_register_##family_##_##name_) \
	{ \
		hy_registration_check(#family_ "/" #name_, \
			hy_variant_register(&hy_variant_##family_##_##name_)); \
	}

/**
 * Declares and registers a fusion: HY_NODE_FUSION(ip4_forward, avx2, .chain = { { "pkt_cls", "avx2" },
 * … }, .run = …). The fields are those of struct hy_fusion; names and pack are filled in.
 */
#define HY_NODE_FUSION(name_, variant_, ...) \
	static const struct hy_fusion hy_fusion_##name_##_##variant_ = { .name = #name_, \
		.variant = #variant_, \
		.fuse = #name_ "-" #variant_, \
		.pack = HY_PACK, \
		__VA_ARGS__ }; \
	HY_PLUGIN_NUMBERS(fusion_##name_##_##variant_, HY_HAL_NUMBERS); \
	RTE_INIT(hy_fusion_register_##name_##_##variant_) \
	{ \
		hy_registration_check(#name_ "/" #variant_, \
			hy_fusion_register(&hy_fusion_##name_##_##variant_)); \
	}

/**
 * Declares and registers a capability: HY_CAPABILITY(acme_tcam, .kind = HY_TARGET_PORT, .probe =
 * …). The fields are those of struct hy_cap_desc; key is filled in.
 */
#define HY_CAPABILITY(key_, ...) \
	static const struct hy_cap_desc hy_cap_desc_##key_ = { .key = #key_, __VA_ARGS__ }; \
	HY_PLUGIN_NUMBERS(cap_##key_, HY_HAL_NUMBERS); \
	RTE_INIT(hy_cap_register_##key_) \
	{ \
		hy_registration_check("capability " #key_, hy_cap_register(&hy_cap_desc_##key_)); \
	}

/** @cond Instruction sets for single functions in files built for any CPU. */
#ifdef RTE_ARCH_X86_64
#define HY_TARGET_AVX2 __attribute__((target("avx2,tune=haswell")))
#define HY_TARGET_AVX512 \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,tune=skylake-avx512")))
#endif
/** @endcond */
