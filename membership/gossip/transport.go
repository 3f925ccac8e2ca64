package gossip

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/aeon-lang/aeon/membership/port"
)

// transport carries memberlist: packets by UDP, under the port's number, and streams by the port, as one of its protocols.
type transport struct {
	port      *port.Port
	advertise string // host:port
	udp       *net.UDPConn
	listener  net.Listener
	packets   chan *memberlist.Packet
	streams   chan net.Conn
	ctx       context.Context // ends with the transport
	end       context.CancelFunc
	wg        sync.WaitGroup
}

var _ memberlist.NodeAwareTransport = (*transport)(nil)

// packetMax is how many bytes a packet of UDP has at most.
const packetMax = 1 << 16

// Bind takes the number of a TCP port for UDP, too.
func Bind(port net.Addr) (*net.UDPConn, error) {
	at, ok := port.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("the gossip: the port has the address %v, which is none of TCP", port)
	}
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port, Zone: at.Zone})
	if err != nil {
		return nil, fmt.Errorf("the gossip needs the number of the TCP port for UDP, too: %w", err)
	}
	return udp, nil
}

func newTransport(p *port.Port, udp *net.UDPConn, advertise string) *transport {
	t := &transport{port: p, advertise: advertise, udp: udp, listener: p.Listener(port.Gossip),
		packets: make(chan *memberlist.Packet), streams: make(chan net.Conn)}
	t.ctx, t.end = context.WithCancel(context.Background())
	t.wg.Go(t.receive)
	t.wg.Go(t.accept)
	return t
}

func (t *transport) receive() {
	for {
		b := make([]byte, packetMax)
		n, from, err := t.udp.ReadFrom(b)
		at := time.Now()
		switch {
		case t.ctx.Err() != nil:
			return
		case err != nil || n == 0:
			continue // one packet could not be received, as that of a node that is not there
		}
		select {
		case t.packets <- &memberlist.Packet{Buf: b[:n:n], From: from, Timestamp: at}:
		case <-t.ctx.Done():
			return
		}
	}
}

func (t *transport) accept() {
	for {
		c, err := t.listener.Accept()
		if err != nil {
			return
		}
		select {
		case t.streams <- c:
		case <-t.ctx.Done():
			_ = c.Close()
			return
		}
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (t *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	a, err := net.ResolveUDPAddr("udp", t.advertise)
	if err != nil {
		return nil, 0, err
	}
	return a.IP, a.Port, nil
}

// WriteTo implements memberlist.Transport.
func (t *transport) WriteTo(b []byte, to string) (time.Time, error) {
	a, err := net.ResolveUDPAddr("udp", to)
	if err != nil {
		return time.Time{}, err
	}
	_, err = t.udp.WriteTo(b, a)
	return time.Now(), err
}

// WriteToAddress implements memberlist.NodeAwareTransport.
func (t *transport) WriteToAddress(b []byte, to memberlist.Address) (time.Time, error) {
	return t.WriteTo(b, to.Addr)
}

// PacketCh implements memberlist.Transport.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh implements memberlist.Transport.
func (t *transport) StreamCh() <-chan net.Conn { return t.streams }

// DialTimeout implements memberlist.Transport.
func (t *transport) DialTimeout(to string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: to}, timeout)
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *transport) DialAddressTimeout(to memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	expect, _, _ := parseName(to.Name) // 0, which is any, for an address that has no name yet
	c, err := t.port.Dial(ctx, to.Addr, port.Gossip, expect)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Shutdown implements memberlist.Transport.
func (t *transport) Shutdown() error {
	t.end()
	_, _ = t.udp.Close(), t.listener.Close()
	t.wg.Wait()
	return nil
}
