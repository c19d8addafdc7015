// Kubeanswer is what runs in a pod that a test makes: it tells its name to whoever asks on port 8080, and logs what was asked.
// `kubeanswer addresses` tells the addresses that it has, and ends. `kubeanswer ask URL` tells what another one answers.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) > 2 {
		if err := ask(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
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

func ask(url string) error {
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}
