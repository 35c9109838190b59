/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The option of a program that offloads: rules go to the ports' own flow engines, or to simulators behind
 * the ports (hy_flow_sim.h), which follow the HAL as NICs follow their drivers.
 *
 * For the control thread. Functions return 0 or a negative errno, after saying on standard error what is
 * wrong, and naming the option.
 */
#pragma once

#include <hy_flow_sim.h>
#include <hy_offload.h>

HY_API_BEGIN

/** What the option's value stands for. */
struct hy_flow_engines {
	struct hy_flow_sim_params sim;   /**< Without a profile: the ports' own engines. */
	struct hy_offload_params params; /**< Without a provider: the option was not given. */
};

/**
 * Reads a value: "rte_flow", or "sim:" and a profile; then settings, as in "sim:ice,table_size=64".
 *
 * @param option Its name, such as "--offload".
 * @return 0; -EINVAL.
 */
int hy_flow_engines_read(const char *option, const char *text, struct hy_flow_engines *engines);

/**
 * Puts simulators behind ports, if the value asks for them.
 *
 * @param[out] params For hy_offload_create() of each of the ports.
 * @return 0; what hy_hal_port_observe() and hy_flow_sim_attach() return.
 */
int hy_flow_engines_begin(const char *option, const struct hy_flow_engines *engines,
	const uint16_t *ports, unsigned int nb_ports, struct hy_hal *hal,
	struct hy_offload_params *params);

/** Removes the simulators, after all offloads are destroyed. */
void hy_flow_engines_end(void);

HY_API_END
