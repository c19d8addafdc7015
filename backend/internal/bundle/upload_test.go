package bundle

import (
	"archive/tar"
	"bytes"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"kloigos/backend/internal/domain"
)

// TestOpenTakesOrdinaryTars: what tar, git archive and Python write beside the files is left out.
func TestOpenTakesOrdinaryTars(t *testing.T) {
	t.Parallel()
	plain, err := Pack("x", map[string][]byte{"a/b": {}, "c": {}})
	if err != nil {
		t.Fatal(err)
	}
	c := file("./c")
	c.Uid, c.Uname, c.Mode = 1000, "ada", 0o755
	c.PAXRecords = map[string]string{"mtime": "1700000000.123", "comment": "x"}
	files, err := Open(artifact(t,
		tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "a commit"}},
		tar.Header{Typeflag: tar.TypeDir, Name: "./"}, tar.Header{Typeflag: tar.TypeDir, Name: "./a/"}, c, file("./a/b"),
	), UploadLimits)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Pack("x", files)
	if err != nil || again.TreeSHA256 != plain.TreeSHA256 {
		t.Fatalf("%v, %v", files, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	sized := func(name string, size int64) tar.Header {
		h := file(name)
		h.Size = size
		return h
	}
	many := make([]tar.Header, 0, UploadLimits.Files+1)
	for i := range UploadLimits.Files + 1 {
		many = append(many, file(fmt.Sprintf("f%d", i)))
	}
	attr := file("attr")
	attr.PAXRecords = map[string]string{"SCHILY.xattr.security.capability": "x"}
	var random bytes.Buffer
	for i := range 1 << 16 {
		random.WriteString(Digest([]byte{byte(i), byte(i >> 8)}))
	}
	large := make([]tar.Header, 0, 20)
	for i := range 10 {
		large = append(large, sized(fmt.Sprintf("f%d", i), UploadLimits.FileBytes))
	}
	wide, err := zstd.NewWriter(nil, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content    []byte
		place, why string
	}{
		"absolute":       {artifact(t, file("/etc/passwd")), "/etc/passwd", "absolute"},
		"up":             {artifact(t, file("../up")), "../up", ".."},
		"up inside":      {artifact(t, file("a/../../up")), "a/../../up", ".."},
		"not shortest":   {artifact(t, file("a//b")), "a//b", "shortest"},
		"dot inside":     {artifact(t, file("a/./b")), "a/./b", "shortest"},
		"twice dotted":   {artifact(t, file("././a")), "./a", "shortest"},
		"backslash":      {artifact(t, file(`a\b`)), `"a\\b"`, "other characters"},
		"control":        {artifact(t, file("a\x1b[2Jb")), `"a\x1b[2Jb"`, "other characters"},
		"not UTF-8":      {artifact(t, tar.Header{Typeflag: tar.TypeReg, Name: "a\xff", Format: tar.FormatGNU}), `"a\xff"`, "not UTF-8"},
		"not ASCII":      {artifact(t, file("\u0430")), `"\u0430"`, "other characters"},
		"right to left":  {artifact(t, file("a\u202eb")), `"a\u202eb"`, "other characters"},
		"option":         {artifact(t, file("--extra-vars")), "--extra-vars", "begins with a dash"},
		"too long":       {artifact(t, file(strings.Repeat("x", 300))), strings.Repeat("x", 200) + "...", "more than 200"},
		"too deep":       {artifact(t, file(strings.Repeat("d/", 9)+"f")), strings.Repeat("d/", 9) + "f", "more than 8 parts"},
		"symbolic link":  {artifact(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "/etc"}), "l", "symbolic link"},
		"hard link":      {artifact(t, file("a"), tar.Header{Typeflag: tar.TypeLink, Name: "l", Linkname: "a"}), "l", "hard link"},
		"device":         {artifact(t, tar.Header{Typeflag: tar.TypeChar, Name: "null", Devmajor: 1, Devminor: 3}), "null", "device"},
		"block device":   {artifact(t, tar.Header{Typeflag: tar.TypeBlock, Name: "sda"}), "sda", "device"},
		"fifo":           {artifact(t, tar.Header{Typeflag: tar.TypeFifo, Name: "p"}), "p", "fifo"},
		"attribute":      {artifact(t, attr), "attr", "SCHILY.xattr"},
		"twice":          {artifact(t, file("a"), file("a")), "a", "there twice"},
		"twice, dotted":  {artifact(t, file("a"), file("./a")), "a", "there twice"},
		"case":           {artifact(t, file("a/Main.yml"), file("a/main.yml")), "a/main.yml", "upper and lower case"},
		"case of a dir":  {artifact(t, file("A/x"), file("a/y")), "a/y", "upper and lower case"},
		"file and dir":   {artifact(t, file("a/b"), file("a")), "a", "a file and a directory"},
		"below a file":   {artifact(t, file("a"), file("a/b")), "a/b", "which is a file"},
		"too many":       {artifact(t, many...), "files", "more than 512 entries"},
		"too big a file": {artifact(t, sized("big", UploadLimits.FileBytes+1)), "big", "at most"},
		"too big":        {artifact(t, large...), "files", "grows beyond"},
		"compressed":     {bytes.Repeat(random.Bytes(), 1), "files", "at most"},
		"no zstd":        {[]byte("this is not compressed"), "files", "it is not zstd"},
		"no tar":         {wide.EncodeAll([]byte("this is no tar, and shorter than a block"), nil), "files", "ends too early"},
		"cut":            {artifact(t, file("a"))[:20], "files", "ends too early"},
		"damaged":        {flip(artifact(t, file("a"))), "files", "damaged"},
		"a window":       {window(t), "files", "window of more than 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(c.content, UploadLimits)
			told := faults(t, err)
			if !slices.ContainsFunc(told, func(f domain.FieldError) bool { return f.Field == c.place && strings.Contains(f.Problem, c.why) }) {
				t.Errorf("nothing about %q at %s in %v", c.why, c.place, told)
			}
		})
	}
}

// Every bad entry of one tar is told.
func TestOpenTellsEveryEntry(t *testing.T) {
	t.Parallel()
	_, err := Open(artifact(t, file("/a"), file("b"), file("../c"), tar.Header{Typeflag: tar.TypeSymlink, Name: "d", Linkname: "b"}, file("b")), UploadLimits)
	var places []string
	for _, f := range faults(t, err) {
		places = append(places, f.Field)
	}
	if diff := cmp.Diff([]string{"/a", "../c", "d", "b"}, places); diff != "" {
		t.Error(diff)
	}
}

func TestFromTextsRefuses(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string]map[string]string{
		"..": {"../x": ""}, "absolute": {"/x": ""}, "without a name": {"": ""}, "case only": {"a": "", "A": ""},
		"at most": {"x": strings.Repeat("x", int(UploadLimits.FileBytes)+1)}, "shortest": {"a/": ""},
	} {
		if _, err := FromTexts(texts, UploadLimits); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func flip(content []byte) []byte {
	content[len(content)-1] ^= 1 // of the checksum
	return content
}

// window is a frame that asks its reader for 64 MiB.
func window(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := zstd.NewWriter(&out, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	for range 80 {
		if _, err := enc.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// gigabyte is 1 GiB of zeros in a tar, in some 33 KB.
func gigabyte(t *testing.T, files int) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := zstd.NewWriter(&out, zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(enc)
	zeros := make([]byte, 1<<20)
	for i := range files {
		size := int64(1<<30) / int64(files)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprintf("f%d", i), Mode: 0o644, Size: size}); err != nil {
			t.Fatal(err)
		}
		for left := size; left > 0; left -= int64(len(zeros)) {
			if _, err := w.Write(zeros[:min(left, int64(len(zeros)))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestMemoryOfHostileUploads runs alone: it looks at the memory of the whole process.
func TestMemoryOfHostileUploads(t *testing.T) {
	texts := map[string]string{"flow": "---\na: [" + strings.Repeat("1,", 5_900) + "]\n", "colons": "---\na: " + strings.Repeat("? ", 30_000) + "\n", "dashes": "---\n" + strings.Repeat("- ", 30_000) + "x\n", "deep": strings.Repeat("[", 60_000), "laughs": laughs(), "lines": strings.Repeat("-\n", 30_000)}
	cases := map[string]func() error{}
	for name, content := range map[string][]byte{"one file": gigabyte(t, 1), "many files": gigabyte(t, 2048), "small files": gigabyte(t, 16384)} {
		if len(content) > 256<<10 && name == "one file" {
			t.Fatalf("the bomb is %d bytes", len(content))
		}
		cases["a gigabyte, "+name] = func() error {
			_, err := Open(content[:min(len(content), int(UploadLimits.ContentBytes))], UploadLimits)
			return err
		}
	}
	for name, text := range texts {
		cases["YAML, "+name] = func() error {
			files := good()
			for i := range 30 {
				files[fmt.Sprintf("roles/hello/vars/x%d.yml", i)] = []byte(text)
			}
			return Gate(t.Context(), testJudge, files, hello)
		}
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			if err := run(); err == nil { // once before, so that what is made once is not counted
				t.Fatal("was taken")
			}
			before := heap()
			done, peak := make(chan struct{}), make(chan uint64)
			go func() {
				tick := time.NewTicker(200 * time.Microsecond)
				defer tick.Stop()
				for most := uint64(0); ; most = max(most, live()) {
					select {
					case <-done:
						peak <- most
						return
					case <-tick.C:
					}
				}
			}()
			err := run()
			close(done)
			most := <-peak
			if err == nil {
				t.Fatal("was taken")
			}
			if most > before+16<<20 {
				t.Errorf("took %.1f MiB more", float64(most-before)/(1<<20))
			}
			t.Logf("%.1f MiB more", (float64(most)-float64(before))/(1<<20))
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	return live()
}

// live is what lies in the heap, garbage that was not collected yet included.
func live() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
