package api

import "runtime/debug"

// BuildVersion is the version of the program that runs, from its module or its commit.
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return info.Main.Version
}

// WebAppVersion is what a web app answers to whoever asks it by itself, at /web/version.
type WebAppVersion struct {
	Version string `json:"version"`
}
