/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The lane of a bridge's nodes (hy_l2.h): what l2_input and l2_lookup found out about a frame.
 */
#pragma once

#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

#define HY_L2_LANE "l2" /**< Its name. */

/** The tag that a frame has. Other tag types than the bridge's are part of the payload. */
enum hy_l2_tag {
	HY_L2_TAG_NONE, /**< None. */
	HY_L2_TAG_VID,  /**< One that names the frame's VLAN. */
	HY_L2_TAG_ZERO, /**< One with VID 0, which has only a priority. */
};

/** @name Fields of the lane: bits 0 to 11 are the VID.
 * @{ */
#define HY_L2_LANE_IN 12             /**< The lowest bit of the port that received the frame. */
#define HY_L2_LANE_TAG 18            /**< The lowest bit of enum hy_l2_tag. */
#define HY_L2_LANE_LEARN (1u << 20)  /**< Sources of the port are learned. */
#define HY_L2_LANE_ONLY (1u << 21)   /**< The frame is dropped after learning. */
#define HY_L2_LANE_SHARED (1u << 22) /**< Other ports have its buffers: nobody may write to them. */
#define HY_L2_LANE_OUT 24            /**< The lowest bit of the port to send to. */
/** @} */

/** Makes a value of the lane, of a frame without a destination. */
static inline uint32_t
hy_l2_lane(uint16_t vid, uint8_t in, enum hy_l2_tag tag)
{
	return vid | (uint32_t)in << HY_L2_LANE_IN | (uint32_t)tag << HY_L2_LANE_TAG;
}

/** @return The VLAN, 1 to 4094. */
static inline uint16_t
hy_l2_lane_vid(uint32_t lane)
{
	return lane & 0xfff;
}

/** @return The port that received the frame. */
static inline uint8_t
hy_l2_lane_in(uint32_t lane)
{
	return lane >> HY_L2_LANE_IN & 0x3f;
}

/** @return The tag that the frame has. */
static inline enum hy_l2_tag
hy_l2_lane_tag(uint32_t lane)
{
	return (enum hy_l2_tag)(lane >> HY_L2_LANE_TAG & 3);
}

/** @return The port to send to. */
static inline uint8_t
hy_l2_lane_out(uint32_t lane)
{
	return lane >> HY_L2_LANE_OUT & 0x3f;
}

HY_API_END
