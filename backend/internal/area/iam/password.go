package iam

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minPassword = 12   // characters
	maxPassword = 1024 // bytes
	secretBytes = 32
)

// known are passwords of at least minPassword characters that are tried first by whoever guesses.
var known = []string{
	"123456789012", "1234567890123", "12345678901234", "123456789012345", "1234567890123456", "password1234", "password12345", "password123456",
	"passwordpassword", "qwertyuiop12", "qwertyuiop123", "qwertyuiopasdf", "qwertyuiopasdfghjkl", "1q2w3e4r5t6y", "1q2w3e4r5t6y7u8i", "1qaz2wsx3edc",
	"1qaz2wsx3edc4rfv", "zaq12wsxcde3", "q1w2e3r4t5y6", "abcdefghijkl", "abcdefghijklm", "abcd1234abcd", "abcd12345678", "iloveyou1234", "iloveyou12345",
	"letmeinletmein", "letmein12345", "welcome12345", "welcome123456", "administrator", "administrator1", "administrator123", "adminadminadmin",
	"changemechangeme", "changeme1234", "changeme12345", "correcthorsebatterystaple", "trustno1trustno1", "qwerty123456", "qwerty1234567",
	"asdfghjkl123", "zxcvbnm12345", "superman1234", "football1234", "baseball1234", "princess1234", "sunshine1234", "monkey123456", "dragon123456",
	"kloigoskloigos", "kloigos12345", "kloigos123456", "secretsecret", "secretpassword", "defaultpassword", "supersecret123", "testtesttest", "testpassword",
}

// checkPassword tells what is wrong with a password of an account; nil if nothing is.
func checkPassword(account, password string) error {
	lower := strings.ToLower(password)
	different := map[rune]bool{}
	for _, r := range lower {
		different[r] = true
	}
	say := func(text string) error { return sentence(text) }
	switch {
	case !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl):
		return say("Use no control characters.")
	case utf8.RuneCountInString(password) < minPassword:
		return say(fmt.Sprintf("Use at least %d characters.", minPassword))
	case len(password) > maxPassword:
		return say(fmt.Sprintf("Use at most %d bytes.", maxPassword))
	case len(different) < 5:
		return say("Use more different characters.")
	case account != "" && strings.Contains(lower, strings.ToLower(account)):
		return say("Use a password without the name of the account.")
	}
	for _, k := range known {
		if strings.Contains(lower, k) && len(lower) < len(k)+minPassword/2 {
			return say("This password is one of those that are guessed first. Use another one.")
		}
	}
	return nil
}

// sentence is an error whose text is shown to a person.
type sentence string

func (s sentence) Error() string { return string(s) }

// Prefixes of secrets, so that one that is found in the open can be told from others.
const (
	linkPrefix   = "kll_" // sets a password
	invitePrefix = "kli_" // accepts an invitation
	tokenPrefix  = "kl_"  // a bearer token
	// pendingPrefix begins the secret of a login that waits for a code.
	pendingPrefix = "klp_"
)

// newSecret makes a secret of 256 random bits.
func newSecret(prefix string) string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails (crypto/rand)
	return prefix + base64.RawURLEncoding.EncodeToString(raw)
}

// hashOf is what is stored of a secret; nil if the text can be none with this prefix.
func hashOf(prefix, secret string) []byte {
	body, ok := strings.CutPrefix(strings.TrimSpace(secret), prefix)
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(secretBytes) {
		return nil
	}
	sum := sha256.Sum256([]byte(prefix + body))
	return sum[:]
}
