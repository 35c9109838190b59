/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports by what people call them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_file.h>
#include <hy_ports.h>

int
hy_port_find(const char *name, uint16_t *port)
{
	char *end;
	const unsigned long number = strtoul(name, &end, 10);
	char pci[RTE_ETH_NAME_MAX_LEN];

	if (*name >= '0' && *name <= '9' && *end == '\0') {
		if (number >= RTE_MAX_ETHPORTS || !rte_eth_dev_is_valid_port((uint16_t)number))
			return -ENODEV;
		*port = (uint16_t)number;
		return 0;
	}
	if (rte_eth_dev_get_port_by_name(name, port) == 0)
		return 0;
	/* PCI devices of domain 0 may be named without it; EAL writes addresses in small letters. */
	snprintf(pci, sizeof(pci), "%s%s", strlen(name) == strlen("3b:00.0") ? "0000:" : "", name);
	for (char *c = pci; *c != '\0'; c++)
		*c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
	return rte_eth_dev_get_port_by_name(pci, port) == 0 ? 0 : -ENODEV;
}

int
hy_ports_find(struct hy_hal *hal, char *const *names, unsigned int n, uint16_t *ports, char *error)
{
	bool wanted[RTE_MAX_ETHPORTS] = { false };

	for (unsigned int i = 0; i < n; i++) {
		uint16_t port = 0;
		const int rc = hy_port_find(names[i], &port);

		if (rc < 0 || wanted[port]) {
			snprintf(error, HY_HAL_ERROR_SIZE,
				rc < 0 ? "'%.64s' is no port; a number, a PCI address or a "
					 "device's name is accepted"
				       : "'%.64s' is a port that was named before",
				names[i]);
			hy_printable(error);
			return rc < 0 ? rc : -EEXIST;
		}
		ports[i] = port;
		wanted[port] = true;
	}
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (!wanted[p])
			hy_hal_port_ignore(hal, p);
	return 0;
}
