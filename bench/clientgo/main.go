// Runs one SharedInformer on pods like a typical Go console: the typed clientset with its defaults, and a
// transform that drops managedFields. Prints one line of JSON after the sync or, with -follow, for each
// line of standard input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// result is the output. Sizes are in bytes, times in seconds.
type result struct {
	Objects  int     `json:"objects"`
	Seconds  float64 `json:"seconds"`
	Resting  int64   `json:"resting"`
	Released int64   `json:"released"`
	Peak     int64   `json:"peak"`
	// Versions are the resource versions by key, with -follow.
	Versions map[string]string `json:"versions,omitempty"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "file")
	contentType := flag.String("content-type", "", "what to ask for; empty: the clientset's default")
	namespace := flag.String("namespace", "", "only this one; empty: all")
	follow := flag.Bool("follow", false, "print the versions of all pods for each line of standard input")
	settle := flag.Duration("settle", time.Second, "between a collection and reading the memory")
	flag.Parse()
	if err := run(*kubeconfig, *contentType, *namespace, *settle, *follow); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, contentType, namespace string, settle time.Duration, follow bool) error {
	started := time.Now()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = contentType
	config.AcceptContentTypes = contentType
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0,
		informers.WithNamespace(namespace), informers.WithTransform(withoutManagedFields))
	informer := factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	factory.Start(ctx.Done())
	select {
	case <-informer.HasSyncedChecker().Done():
	case <-ctx.Done():
		return fmt.Errorf("not synced in 10 minutes")
	}
	answer := result{Seconds: time.Since(started).Seconds(), Objects: len(informer.GetStore().ListKeys())}
	if follow {
		return answer.follow(informer.GetStore())
	}
	answer.measure(settle)
	runtime.KeepAlive(informer)
	return json.NewEncoder(os.Stdout).Encode(answer)
}

// follow prints the versions of all pods for each line of standard input, until it ends.
func (r *result) follow(store cache.Store) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		r.Versions = map[string]string{}
		for _, object := range store.List() {
			pod := object.(*corev1.Pod)
			r.Versions[pod.Namespace+"/"+pod.Name] = pod.ResourceVersion
		}
		if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

func withoutManagedFields(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

// measure reads the memory twice: after a garbage collection, and after free pages are returned to the
// kernel.
func (r *result) measure(settle time.Duration) {
	r.Peak = status("VmHWM")
	runtime.GC()
	time.Sleep(settle)
	r.Resting = status("VmRSS")
	debug.FreeOSMemory()
	r.Released = status("VmRSS")
}

// status returns a size from /proc/self/status in bytes, or 0 if it doesn't exist.
func status(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, field+":"); found {
			kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kilobytes * 1024
		}
	}
	return 0
}
