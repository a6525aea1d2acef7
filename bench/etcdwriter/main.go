// Writes pod statuses to etcd like kube-apiserver, in Kubernetes' protobuf encoding.
//
// It reads the pods that it may change and prints an empty line. For each request, one line of JSON on stdin,
// it prints one answer after etcd has stored the change. Answers can be in any order.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	prefix = "/registry/pods/"
	// Pods per request when reading at startup.
	page = 500
)

// Prefix of all objects that kube-apiserver stores as protobuf.
var magic = []byte{'k', '8', 's', 0}

type request struct {
	ID     int64            `json:"id"`
	Pod    string           `json:"pod"` // namespace/name
	Status corev1.PodStatus `json:"status"`
}

// answer contains the pod's new resourceVersion, or an error.
type answer struct {
	ID       int64  `json:"id"`
	Revision int64  `json:"revision"`
	Error    string `json:"error"`
}

func main() {
	url := flag.String("etcd", "", "etcd's address")
	selector := flag.String("selector", "", "only pods with these labels; empty: all")
	flag.Parse()
	if err := run(*url, *selector); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(url, selector string) error {
	wanted, err := labels.Parse(selector)
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{strings.TrimPrefix(url, "http://")}})
	if err != nil {
		return err
	}
	defer client.Close()
	pods, err := read(client, wanted)
	if err != nil {
		return err
	}
	fmt.Println()
	return serve(client, pods)
}

// read returns the matching pods by namespace and name.
func read(client *clientv3.Client, wanted labels.Selector) (map[string]*corev1.Pod, error) {
	pods := map[string]*corev1.Pod{}
	end := clientv3.GetPrefixRangeEnd(prefix)
	for from := prefix; ; {
		found, err := client.Get(context.Background(), from, clientv3.WithRange(end), clientv3.WithLimit(page))
		if err != nil {
			return nil, err
		}
		for _, kv := range found.Kvs {
			pod, err := decode(kv.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kv.Key, err)
			}
			if wanted.Matches(labels.Set(pod.Labels)) {
				pods[strings.TrimPrefix(string(kv.Key), prefix)] = pod
			}
		}
		if !found.More {
			return pods, nil
		}
		from = string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
	}
}

func decode(value []byte) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if !bytes.HasPrefix(value, magic) {
		return pod, json.Unmarshal(value, pod)
	}
	unknown := runtime.Unknown{}
	if err := unknown.Unmarshal(value[len(magic):]); err != nil {
		return nil, err
	}
	return pod, pod.Unmarshal(unknown.Raw)
}

func encode(pod *corev1.Pod) ([]byte, error) {
	raw, err := pod.Marshal()
	if err != nil {
		return nil, err
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}
	value, err := unknown.Marshal()
	return append(bytes.Clone(magic), value...), err
}

// serve handles requests concurrently.
func serve(client *clientv3.Client, pods map[string]*corev1.Pod) error {
	var printing sync.Mutex
	output := json.NewEncoder(os.Stdout)
	input := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20))
	for {
		var asked request
		if err := input.Decode(&asked); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		go func() {
			said := answer{ID: asked.ID}
			revision, err := change(client, pods[asked.Pod], asked)
			if err != nil {
				said.Error = err.Error()
			}
			said.Revision = revision
			printing.Lock()
			defer printing.Unlock()
			_ = output.Encode(said)
		}()
	}
}

func change(client *clientv3.Client, known *corev1.Pod, asked request) (int64, error) {
	if known == nil {
		return 0, fmt.Errorf("there is no pod %s", asked.Pod)
	}
	// Copy the pod, because other requests share it.
	pod := *known
	pod.Status = asked.Status
	value, err := encode(&pod)
	if err != nil {
		return 0, err
	}
	put, err := client.Put(context.Background(), prefix+asked.Pod, string(value))
	if err != nil {
		return 0, err
	}
	return put.Header.Revision, nil
}
