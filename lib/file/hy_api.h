/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What every public header has around its declarations. Any public header brings this one.
 */
#pragma once

/** @cond names C linkage for C++, and symbols that the shared library exports. */
#ifdef __cplusplus
#define HY_API_BEGIN \
	extern "C" { \
	_Pragma("GCC visibility push(default)")
#define HY_API_END \
	_Pragma("GCC visibility pop") \
	}
#else
#define HY_API_BEGIN _Pragma("GCC visibility push(default)")
#define HY_API_END _Pragma("GCC visibility pop")
#endif
/** @endcond */
