/* SPDX-License-Identifier: BSD-3-Clause */
/* What a regex device can do. */

#include <errno.h>

#include <rte_dev.h>
#include <rte_regexdev.h>

#include "hal/internal/hal.h"

/* Finds devices by id: rte_regexdev_get_dev_id() inverts the comparison of names. */
int
hy_probe_regex(struct hy_device_list *list)
{
	for (uint8_t id = 0; id < RTE_MAX_REGEXDEV_DEVS; id++) {
		struct rte_regexdev_info info = { 0 }; /* drivers do not set all members */
		struct hy_hal_device *dev;

		if (!rte_regexdev_is_valid_dev(id) || rte_regexdev_info_get(id, &info) < 0)
			continue;
		/* mlx5 alone does not set it: mlx5_regex_info_get(), mlx5_rxp.c, 22.11. */
		if (info.driver_name == NULL)
			info.driver_name = "regex_mlx5";
		dev = hy_device_add(list, (struct hy_target){ .kind = HY_TARGET_REGEX, .id = id },
			info.dev == NULL ? NULL : rte_dev_name(info.dev), info.driver_name);
		if (dev == NULL)
			return -ENOMEM;
		hy_cap_limit(&dev->caps[HY_CAP_REGEX_QPS], info.max_queue_pairs);
		hy_cap_limit(&dev->caps[HY_CAP_REGEX_PAYLOAD], info.max_payload_size);
		hy_cap_limit(&dev->caps[HY_CAP_REGEX_MATCHES], info.max_matches);
		hy_cap_limit(&dev->caps[HY_CAP_REGEX_GROUPS], info.max_groups);
		hy_cap_limit(&dev->caps[HY_CAP_REGEX_RULES], info.max_rules_per_group);
	}
	return 0;
}
