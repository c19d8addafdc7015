package testhost

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// monitorTimeout bounds the talk with QEMU's monitor: it answers at once, or hangs with the machine.
const monitorTimeout = 5 * time.Second

// processors says where the guest's processors are and whether they sleep. A machine that
// is silent with all of them asleep waits for something; one whose processors run is slow or spins.
func (vm *VM) processors() string {
	answer, err := vm.ask("info registers -a")
	if err != nil {
		return fmt.Sprintf("QEMU's monitor does not answer: %v", err)
	}
	return parseRegisters(answer)
}

// ask sends one command of QEMU's human monitor and returns what it prints.
func (vm *VM) ask(command string) (string, error) {
	conn, err := net.DialTimeout("unix", filepath.Join(vm.Dir, monitorSocket), monitorTimeout)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(monitorTimeout)); err != nil {
		return "", err
	}
	var printed strings.Builder
	if err := untilPrompt(conn, &printed); err != nil {
		return "", err
	}
	printed.Reset()
	if _, err := io.WriteString(conn, command+"\n"); err != nil {
		return "", err
	}
	err = untilPrompt(conn, &printed)
	return printed.String(), err
}

func untilPrompt(conn io.Reader, printed *strings.Builder) error {
	for buffer := make([]byte, 4096); !strings.HasSuffix(printed.String(), "(qemu) "); {
		n, err := conn.Read(buffer)
		printed.Write(buffer[:n])
		if err != nil {
			return err
		}
	}
	return nil
}

var registers = regexp.MustCompile(`(?:CPU#(\d+))|(?:[RE]IP=([0-9a-f]+))|(?:HLT=([01]))`)

// parseRegisters finds each processor's number, instruction pointer and whether it is halted.
func parseRegisters(printed string) string {
	var out strings.Builder
	for _, found := range registers.FindAllStringSubmatch(printed, -1) {
		switch {
		case found[1] != "":
			fmt.Fprintf(&out, "\nprocessor %s", found[1])
		case found[2] != "":
			fmt.Fprintf(&out, " at %s", found[2])
		case found[3] == "1":
			out.WriteString(", asleep")
		}
	}
	if out.Len() == 0 {
		return "QEMU's monitor names no processor"
	}
	return strings.TrimPrefix(out.String(), "\n")
}

// SetLink pulls the machine's network cable, or plugs it in again.
func (vm *VM) SetLink(up bool) error {
	word := "off"
	if up {
		word = "on"
	}
	answer, err := vm.ask("set_link net " + word)
	if err != nil {
		return fmt.Errorf("set the link: %w", err)
	}
	if strings.Contains(answer, "rror") {
		return fmt.Errorf("set the link: %s", strings.TrimSpace(answer))
	}
	return nil
}
