// Package inventory is the home of the inventories: kloigos_inventory.py, which reads the API, samples of static ones,
// systemd units and monitoring. There is no code in it, only the tests that run the script with a real Ansible.
package inventory
