/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A policy offloaded to all ports of a program (hy_offload.h for one port): attached when the ports
 * run, served while packets flow, reported, and taken back before the ports stop. A port that takes no
 * rules is reported on standard error, and classifies in software.
 *
 * For the control thread that uses the HAL. All functions accept NULL for no offloads.
 */
#pragma once

#include <hy_hal_live.h>
#include <hy_offload.h>

HY_API_BEGIN

struct hy_offloads;

/**
 * Offloads a policy to ports, has the offloads follow them (hy_offload_follow()), and installs rules for
 * up to a second, so that the first packets find them. The HAL learns which ports take none, by the
 * capability flow_mark: to be called before hy_hal_select().
 *
 * @param hal Outlives the offloads.
 * @param policy Likewise.
 * @param ports Ports that run, each once.
 * @param params As for hy_offload_create(), for each port.
 * @param[out] offloads Belongs to the caller, until hy_offloads_destroy(). NULL after an error.
 * @return 0, also if no port takes rules; -EINVAL params; -EEXIST a port has an offload; -ENOMEM; what
 * hy_offload_follow() returns. Errors are reported on standard error.
 */
int hy_offloads_create(struct hy_hal *hal, struct hy_policy *policy, const uint16_t *ports,
	unsigned int nb_ports, const struct hy_offload_params *params,
	struct hy_offloads **offloads);

/** Takes the rules back, when no worker runs and before ports are stopped; frees the offloads. */
void hy_offloads_destroy(struct hy_offloads *offloads);

/**
 * Polls the offloads (hy_offload_poll()), and reports wrong marks, the first few of each port in full. To
 * be called every few milliseconds; most calls cost a look at the clock.
 */
void hy_offloads_poll(struct hy_offloads *offloads);

/** Prints the state of each port for people, a few lines a port. */
void hy_offloads_print(const struct hy_offloads *offloads, FILE *out);

/**
 * Prints the members of a JSON array, an object a port: that of hy_offload_json(), or
 * {"port", "state": "refused", "reason"}.
 */
void hy_offloads_json(const struct hy_offloads *offloads, FILE *out);

HY_API_END
