/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of the family ip4_steer. Lanes: the class in, the next-hop id out; of a packet that is
 * dropped, UINT32_MAX. The node never touches a packet.
 */
#ifndef IP4_STEER_H
#define IP4_STEER_H

enum ip4_steer_next { IP4_STEER_NEXT_REWRITE };
enum ip4_steer_drop { IP4_STEER_NO_NEXT_HOP };
enum ip4_steer_lane { IP4_STEER_LANE_ROUTE, IP4_STEER_LANE_CLASS };

#endif
