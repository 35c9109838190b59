/* SPDX-License-Identifier: BSD-3-Clause */
/* See l2_kernel_port.h. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <net/if.h>

#include <linux/if_tun.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "l2_kernel_port.h"

#define DEVICE "hy-bench-l2"
#define ETHDEV "net_af_packet_l2"

struct l2_kernel_port {
	int home;                 /* the network namespace before */
	int tap;                  /* the other side of the device */
	struct rte_mempool *none; /* for the receive queue, from which nobody receives */
	bool probed;
	uint16_t ethdev;
};

/* Has the kernel queue all frames of a lap, and brings the device up. */
static int
device_up(void)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { .ifr_name = DEVICE };
	int rc;

	if (fd < 0)
		return -errno;
	ifr.ifr_qlen = 2 * L2_FRAMES;
	rc = ioctl(fd, SIOCSIFTXQLEN, &ifr);
	if (rc == 0)
		rc = ioctl(fd, SIOCGIFFLAGS, &ifr);
	ifr.ifr_flags |= IFF_UP;
	if (rc == 0)
		rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
	rc = rc < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* Makes the device in a network namespace of its own, so that nothing of the machine changes. */
static int
device_make(struct l2_kernel_port *port)
{
	struct ifreq ifr = { .ifr_name = DEVICE };
	int rc;

	port->home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (port->home < 0)
		return bench_cannot("a network namespace: %s", strerror(errno));
	if (unshare(CLONE_NEWNET) < 0) {
		rc = errno;
		close(port->home);
		port->home = -1;
		return bench_cannot("a network namespace: %s", strerror(rc));
	}
	port->tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ifr.ifr_flags = IFF_TAP | IFF_NO_PI;
	if (port->tap < 0 || ioctl(port->tap, TUNSETIFF, &ifr) < 0)
		return bench_cannot("a TAP device: %s", strerror(errno));
	rc = device_up();
	return rc < 0 ? bench_cannot("a TAP device: %s", strerror(-rc)) : 0;
}

static int
ethdev_make(struct l2_kernel_port *port)
{
	const struct rte_eth_conf conf = { 0 };
	int rc = rte_eal_hotplug_add("vdev", ETHDEV, "iface=" DEVICE);

	if (rc == 0) {
		port->probed = true;
		rc = rte_eth_dev_get_port_by_name(ETHDEV, &port->ethdev);
	}
	port->none = rte_pktmbuf_pool_create("l2_kernel", 1, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	if (port->none == NULL)
		return bench_cannot("no memory for a packet");
	if (rc == 0)
		rc = rte_eth_dev_configure(port->ethdev, 1, 1, &conf);
	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port->ethdev, 0, 0, SOCKET_ID_ANY, NULL, port->none);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(port->ethdev, 0, 0, SOCKET_ID_ANY, NULL);
	if (rc == 0)
		rc = rte_eth_dev_start(port->ethdev);
	return rc < 0 ? bench_cannot("net_af_packet: %s", strerror(-rc)) : 0;
}

struct l2_kernel_port *
l2_kernel_port_open(uint16_t *ethdev)
{
	struct l2_kernel_port *port = bench_alloc(1, sizeof(*port));

	port->home = port->tap = -1;
	if (device_make(port) < 0 || ethdev_make(port) < 0) {
		l2_kernel_port_close(port);
		return NULL;
	}
	*ethdev = port->ethdev;
	return port;
}

void
l2_kernel_port_close(struct l2_kernel_port *port)
{
	if (port == NULL)
		return;
	if (port->probed) {
		rte_eth_dev_stop(port->ethdev);
		rte_eth_dev_close(port->ethdev);
		rte_eal_hotplug_remove("vdev", ETHDEV);
	}
	rte_mempool_free(port->none);
	if (port->tap >= 0)
		close(port->tap);
	if (port->home >= 0) {
		if (setns(port->home, CLONE_NEWNET) < 0)
			bench_fail("l2: the network namespace: %s", strerror(errno));
		close(port->home);
	}
	free(port);
}

uint32_t
l2_kernel_port_drain(struct l2_kernel_port *port, struct l2_rig *rig, const struct l2_form *form,
	const char **wrong)
{
	uint8_t frame[2048];
	uint32_t n = 0;
	ssize_t len;

	while ((len = read(port->tap, frame, sizeof(frame))) > 0) {
		const char *what;

		/* The kernel itself sends some when a device comes up. */
		if (len >= 14 && (frame[12] != 0x08 || frame[13] != 0x00))
			continue;
		what = l2_frame_check(rig, form, frame, (uint32_t)len, -1);
		*wrong = what != NULL ? what : *wrong;
		n++;
	}
	return n;
}
