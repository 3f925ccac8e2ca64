package settings

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/aeon-lang/aeon/internal/cmdline"
)

// Cluster says how a program is a node of a cluster. The zero value has it be none.
type Cluster struct {
	Listen    string // where it listens for other nodes, HOST:PORT; "": it is no node
	Advertise string // where other nodes reach it, HOST:PORT; "": at Listen
	Join      string // how a new node becomes a member of a cluster that there is: TOKEN@HOST:PORT[,HOST:PORT…], or @FILE with that; "": it forms one, or is a member
	Name      string // what people call the node; "": node and its number
	Adopt     string // the directory of a program that ran alone, or of the stores of a cluster, with whose actors a new cluster begins; "": with none
	Stores    int    // of a new cluster; 0: as many as Adopt has, else StoresDefault

	flags *flag.FlagSet
}

// StoresMax is how many stores a cluster has at most: each is led by one node, and more than a few for each only cost.
const StoresMax = 64

// StoresDefault is how many stores a new cluster has that was not told otherwise: their number stays, and a cluster may grow to as many nodes.
const StoresDefault = 8

// clusterNames are the names that Cluster.Flags declares.
var clusterNames = []string{"cluster-listen", "cluster-advertise", "join", "node-name", "adopt", "stores"}

// IsClusterFlag reports whether Cluster.Flags declares a flag.
func IsClusterFlag(name string) bool { return slices.Contains(clusterNames, name) }

// Flags declares the flags.
func (c *Cluster) Flags(fs *flag.FlagSet) {
	c.flags = fs
	fs.StringVar(&c.Listen, "cluster-listen", "", "with --data and --listen: be a node of a cluster, which other nodes reach at `HOST:PORT` (docs/cluster.md)")
	fs.StringVar(&c.Advertise, "cluster-advertise", "", "with --cluster-listen: other nodes reach it at `HOST:PORT` instead, as behind a forwarded port")
	fs.StringVar(&c.Join, "join", "", "with --cluster-listen and a new directory: join a cluster by the `TOKEN@HOST:PORT` that \"aeond join-token\" has written, or by @FILE with that, which others do not see in the list of processes; --create begins one")
	fs.StringVar(&c.Name, "node-name", "", "with --cluster-listen and a new directory: the `NAME` of the node; node and its number if not given")
	fs.StringVar(&c.Adopt, "adopt", "", "with --cluster-listen and a new directory: begin the cluster with the actors in `DIR`, the directory of a program that ran alone, or a snapshot of a cluster that was restored; it stays as it is, and is marked as adopted")
	fs.IntVar(&c.Stores, "stores", 0, fmt.Sprintf("with --cluster-listen and --create or --adopt: the `number` of stores among which the cluster divides its actors, each led by a node; it stays as it is; %d if not given (docs/cluster.md)", StoresDefault))
}

// Address returns where other nodes reach the node.
func (c *Cluster) Address() string { return cmp.Or(c.Advertise, c.Listen) }

func (c *Cluster) values() []string {
	stores := ""
	if c.namesStores() {
		stores = strconv.Itoa(c.Stores)
	}
	return []string{c.Listen, c.Advertise, c.Join, c.Name, c.Adopt, stores}
}

// namesStores reports whether the user says how many stores there are to be.
func (c *Cluster) namesStores() bool {
	return c.Stores != 0 || c.flags != nil && cmdline.Given(c.flags, "stores")
}

// Check returns what is wrong with the flags that were parsed. Its error is one of usage.
func (c *Cluster) Check(s *State, l *Listen) error {
	if c.flags != nil {
		if err := cmdline.NotEmpty(c.flags, clusterNames...); err != nil {
			return err
		}
	}
	if c.Listen == "" {
		for i, v := range c.values() {
			if v != "" {
				return fmt.Errorf("--%s is about a node of a cluster; say with --cluster-listen HOST:PORT where other nodes reach it", clusterNames[i])
			}
		}
		return nil
	}
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || port == "" {
		return fmt.Errorf("--cluster-listen: %q is no address; write HOST:PORT, as in 10.0.0.1:7000", c.Listen)
	}
	flag, remedy := "cluster-advertise", ""
	if c.Advertise == "" {
		flag, remedy = "cluster-listen", ", or say with --cluster-advertise where they reach it"
	}
	host, port, err := net.SplitHostPort(c.Address())
	_, _, unjoinable := splitJoin(c.Join)
	switch {
	case err != nil || host == "" || port == "" || port == "0":
		return fmt.Errorf("--%s: %q is no address that other nodes can dial; write HOST:PORT, as in 10.0.0.1:7000%s", flag, c.Address(), remedy)
	case net.ParseIP(host) != nil && net.ParseIP(host).IsUnspecified():
		return fmt.Errorf("--%s: other nodes cannot dial %s; write the address of this machine%s", flag, host, remedy)
	case s.Dir == "":
		return errors.New("--cluster-listen: a node keeps its part of the actors in a directory; name it with --data")
	case l.Address == "":
		return errors.New("--cluster-listen: a node serves clients; say with --listen where")
	case s.Durability.Memory() || !s.Durability.AnswersWait():
		return errors.New("--durability: in a cluster answers wait until several nodes have them; leave it out")
	case c.Join != "" && !strings.HasPrefix(c.Join, "@") && unjoinable != nil:
		return fmt.Errorf("--join: %w", unjoinable)
	case c.Join != "" && c.Adopt != "":
		return errors.New("--adopt begins a cluster, and --join joins one that has its actors: leave one of them out")
	case c.namesStores() && (c.Stores < 1 || c.Stores > StoresMax):
		return fmt.Errorf("--stores: a cluster has 1 to %d stores, not %d", StoresMax, c.Stores)
	case c.namesStores() && c.Join != "":
		return errors.New("--stores is about a new cluster, and --join joins one that has its stores: leave it out")
	case c.Adopt != "" && (Within(c.Adopt, s.Dir) || Within(s.Dir, c.Adopt)):
		return fmt.Errorf("--adopt: %s and the directory of the node, %s, must be beside each other; name a new one with --data", c.Adopt, s.Dir)
	}
	return nil
}

const wholeToken = "write all of TOKEN@HOST:PORT, as \"aeond join-token\" does, or @FILE with that"

// What is wrong with TOKEN@HOST:PORT, without any text of that: a token is a secret.
var (
	errNoToken    = errors.New("no token stands before the @: " + wholeToken)
	errNoMember   = errors.New("the token has no HOST:PORT behind it, as when it was cut: " + wholeToken)
	errManyTokens = errors.New("there is more than one TOKEN@HOST:PORT, or white space within it; give each node a token, and a file, of its own")
)

// splitJoin splits TOKEN@HOST:PORT[,HOST:PORT…].
func splitJoin(text string) (token string, members []string, err error) {
	token, addresses, is := strings.Cut(text, "@")
	switch {
	case strings.ContainsFunc(text, unicode.IsSpace) || strings.Contains(addresses, "@"):
		return "", nil, errManyTokens
	case is && token == "":
		return "", nil, errNoToken
	}
	members = strings.Split(addresses, ",")
	for _, m := range members {
		if _, port, err := net.SplitHostPort(m); err != nil || port == "" {
			return "", nil, errNoMember
		}
	}
	return token, members, nil
}

// JoinBy returns the token of --join, and the addresses of the members to ask. It reads the file, if one is named.
func (c *Cluster) JoinBy() (token string, members []string, err error) {
	name, is := strings.CutPrefix(c.Join, "@")
	if !is {
		return splitJoin(c.Join)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", nil, err
	}
	text := strings.TrimSpace(string(b))
	if text == "" {
		return "", nil, fmt.Errorf("%s is empty, as when the command has failed that was to write it: have \"aeond join-token\" write a token there", name)
	}
	if token, members, err = splitJoin(text); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return token, members, err
}

// Arguments returns the flags as they are to be passed on.
func (c *Cluster) Arguments() []string {
	var args []string
	for i, v := range c.values() {
		if v != "" {
			args = append(args, "--"+clusterNames[i], v)
		}
	}
	return args
}
