package page

import (
	"bufio"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

const (
	// stall is how long one who reads a stream has for each piece of it. While he
	// takes none, a few more are accepted, each of which gives him that time again.
	stall = 30 * time.Second
	// streamSocket is what the kernel keeps for one who takes nothing, in bytes;
	// by itself it would take megabytes.
	streamSocket = 64 << 10
)

// Stream answers with what write writes, for as long as that takes. A flush hands
// on what was written, and waits while what went before is not taken. Whoever
// takes nothing at all is cut off after a minute or two: the next flush fails.
func Stream(c *fiber.Ctx, write func(*bufio.Writer)) { stream(c, stall, write) }

func stream(c *fiber.Ctx, stall time.Duration, write func(*bufio.Writer)) {
	conn := c.Context().Conn()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(streamSocket) // at worst it stays as large as it is
	}
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		out := bufio.NewWriterSize(&patient{w, conn, stall}, w.Size())
		write(out)
		_ = out.Flush() // to one who has left: nobody is there to be told
	})
}

// patient gives the reader time for each piece.
type patient struct {
	to    *bufio.Writer
	conn  net.Conn
	stall time.Duration
}

// Write implements io.Writer.
func (p *patient) Write(piece []byte) (int, error) {
	if err := p.conn.SetWriteDeadline(time.Now().Add(p.stall)); err != nil {
		return 0, err
	}
	n, err := p.to.Write(piece)
	if err != nil {
		return n, err
	}
	return n, p.to.Flush()
}
