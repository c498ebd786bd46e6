// A real etcd member for the tests, driven over stdin: one JSON command a line, one JSON answer a line.
// It ends when stdin closes, so that a test process that dies leaves nothing running.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

type command struct {
	Do       string `json:"do"`
	Key      string `json:"key"`
	Value    string `json:"value"`
	User     string `json:"user"`
	Password string `json:"password"`
	Revision int64  `json:"revision"`
	Prefix   string `json:"prefix"`
}

type pair struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	ModRevision string `json:"modRevision"`
}

type answer struct {
	Ready    bool   `json:"ready,omitempty"`
	Error    string `json:"error,omitempty"`
	Revision string `json:"revision,omitempty"`
	Leader   bool   `json:"leader,omitempty"`
	Pairs    []pair `json:"pairs,omitempty"`
}

func main() {
	name := flag.String("name", "one", "this member's name")
	data := flag.String("data", "", "folder for its data")
	client := flag.String("client", "", "URL to serve clients on")
	peer := flag.String("peer", "", "URL to talk to other members on")
	cluster := flag.String("cluster", "", "name=peer-url of every member, with commas; empty: this one alone")
	cert := flag.String("cert", "", "server certificate")
	key := flag.String("key", "", "server key")
	ca := flag.String("ca", "", "CA of client certificates; set: a client must present one")
	tokenTTL := flag.Uint("token-ttl", 300, "seconds until an auth token expires")
	progress := flag.Duration("progress", 10*time.Minute, "how often an idle watch hears of progress")
	maxRequest := flag.Uint("max-request", 1536*1024, "most bytes of one request")
	flag.Parse()

	config := embed.NewConfig()
	config.Name = *name
	config.Dir = *data
	config.ListenClientUrls, config.AdvertiseClientUrls = urls(*client), urls(*client)
	config.ListenPeerUrls, config.AdvertisePeerUrls = urls(*peer), urls(*peer)
	config.InitialCluster = *cluster
	if *cluster == "" {
		config.InitialCluster = *name + "=" + *peer
	}
	config.LogLevel = "error"
	config.LogOutputs = []string{"stderr"}
	config.UnsafeNoFsync = true // throw-away data
	config.QuotaBackendBytes = 8 << 30
	config.MaxTxnOps = 10_000
	config.TickMs = 50
	config.ElectionMs = 500
	config.AuthTokenTTL = *tokenTTL
	config.WatchProgressNotifyInterval = *progress
	config.MaxRequestBytes = *maxRequest
	config.GRPCKeepAliveMinTime = 10 * time.Millisecond // tests do not have 5 s to find a dead connection
	config.ClientTLSInfo.CertFile, config.ClientTLSInfo.KeyFile = *cert, *key
	config.ClientTLSInfo.TrustedCAFile, config.ClientTLSInfo.ClientCertAuth = *ca, *ca != ""

	server, err := embed.StartEtcd(config)
	if err != nil {
		fail(err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		fail(err)
	case <-time.After(60 * time.Second):
		fail(fmt.Errorf("not ready after 60 s"))
	}
	inside := v3client.New(server.Server)
	say(answer{Ready: true})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			say(answer{Error: err.Error()})
			continue
		}
		done, err := obey(server, inside, asked)
		if err != nil {
			done.Error = err.Error()
		}
		say(done)
	}
}

func obey(server *embed.Etcd, inside *clientv3.Client, asked command) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	switch asked.Do {
	case "put":
		got, err := inside.Put(ctx, asked.Key, asked.Value)
		if err != nil {
			return answer{}, err
		}
		return answer{Revision: text(got.Header.Revision)}, nil
	case "delete":
		got, err := inside.Delete(ctx, asked.Key)
		if err != nil {
			return answer{}, err
		}
		return answer{Revision: text(got.Header.Revision)}, nil
	case "list":
		got, err := inside.Get(ctx, asked.Key, clientv3.WithPrefix())
		if err != nil {
			return answer{}, err
		}
		result := answer{Revision: text(got.Header.Revision)}
		for _, kv := range got.Kvs {
			result.Pairs = append(result.Pairs, pair{string(kv.Key), string(kv.Value), text(kv.ModRevision)})
		}
		return result, nil
	case "compact":
		revision := asked.Revision
		if revision == 0 {
			got, err := inside.Get(ctx, "x")
			if err != nil {
				return answer{}, err
			}
			revision = got.Header.Revision
		}
		_, err := inside.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return answer{Revision: text(revision)}, err
	case "auth":
		return answer{}, enableAuth(ctx, inside, asked)
	case "leader":
		return answer{Leader: server.Server.Leader() == server.Server.MemberID()}, nil
	}
	return answer{}, fmt.Errorf("unknown command %q", asked.Do)
}

// The named user may read and write below the prefix only; root, who must exist, has the same password.
func enableAuth(ctx context.Context, inside *clientv3.Client, asked command) error {
	prefix := asked.Prefix
	if prefix == "" {
		prefix = "/calico"
	}
	steps := []func() error{
		func() error { _, err := inside.UserAdd(ctx, "root", asked.Password); return err },
		func() error { _, err := inside.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := inside.RoleAdd(ctx, "calico"); return err },
		func() error {
			_, err := inside.RoleGrantPermission(ctx, "calico", prefix, clientv3.GetPrefixRangeEnd(prefix), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := inside.UserAdd(ctx, asked.User, asked.Password); return err },
		func() error { _, err := inside.UserGrantRole(ctx, asked.User, "calico"); return err },
		func() error { _, err := inside.AuthEnable(ctx); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func urls(text string) []url.URL {
	parsed, err := url.Parse(text)
	if err != nil {
		fail(err)
	}
	return []url.URL{*parsed}
}

func text(revision int64) string { return strconv.FormatInt(revision, 10) }

func say(what answer) {
	line, err := json.Marshal(what)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(line))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
