// Kubeanswer is what runs in a pod that a test makes: it tells its name to whoever asks on port 8080, and logs what was asked.
// `kubeanswer addresses` tells the addresses that it has, and ends.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) > 1 {
		addresses, err := net.InterfaceAddrs()
		fmt.Println(addresses, err)
		return
	}
	name, err := os.Hostname()
	if err != nil {
		name = err.Error()
	}
	fmt.Println("listening as", name)
	server := &http.Server{Addr: ":8080", ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("asked for %q\n", r.URL.Path)
		fmt.Fprintf(w, "I am %s\n", name)
	})}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
