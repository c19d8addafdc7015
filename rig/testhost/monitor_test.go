package testhost

import "testing"

func TestParseRegisters(t *testing.T) {
	printed := "info registers -a\r\n\r\nCPU#0\r\nRAX=0000000000000000 RBX=00\r\nRIP=ffffffff81c5f9cb RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\r\n" +
		"\r\nCPU#1\r\nEAX=0000 EBX=0000\r\nEIP=0000fff0 EFL=00000002 [-------] CPL=0 II=0 A20=1 SMM=0 HLT=0\r\n(qemu) "
	want := "processor 0 at ffffffff81c5f9cb, asleep\nprocessor 1 at 0000fff0"
	if got := parseRegisters(printed); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := parseRegisters("unknown command: 'info'"); got != "QEMU's monitor names no processor" {
		t.Errorf("got %q", got)
	}
}
