// Judges receipts, cosigned checkpoints and proofs of consistency with golang.org/x/mod, which is none of ours.
// Reads one JSON object from standard input and prints "ok", or says what is wrong and ends with 1.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	// A receipt, or a proof of consistency.
	File struct {
		Verifier   string
		Checkpoint string
		Old        string
		New        string
		Proof      []string
		Records    []struct {
			Index   int64
			Leaf    []byte
			Salt    []byte
			Payload string
			Proof   []string
		}
	}
	// The key of a witness that must have cosigned. Empty: none.
	Witness string
}

// The cosignatures of C2SP, which x/mod does not bring: it takes any verifier that knows its name and its hash.
type witness struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

func (w witness) Name() string    { return w.name }
func (w witness) KeyHash() uint32 { return w.hash }
func (w witness) Verify(msg, sig []byte) bool {
	if len(sig) != 72 {
		return false
	}
	time := binary.BigEndian.Uint64(sig)
	signed := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, msg)
	return ed25519.Verify(w.key, []byte(signed), sig[8:])
}

func parseWitness(text string) (note.Verifier, error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("the key of the witness is malformed")
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 33 || key[0] != 4 {
		return nil, errors.New("the key of the witness is not one for cosignatures")
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	hash, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil || uint32(hash) != binary.BigEndian.Uint32(sum[:4]) {
		return nil, errors.New("the key of the witness has another id")
	}
	return witness{parts[0], uint32(hash), key[1:]}, nil
}

func open(text string, verifiers ...note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open([]byte(text), note.VerifierList(verifiers...))
	if err != nil {
		return tlog.Tree{}, err
	}
	if len(opened.Sigs) != len(verifiers) {
		return tlog.Tree{}, fmt.Errorf("%d of %d have signed", len(opened.Sigs), len(verifiers))
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifiers[0].Name() {
		return tlog.Tree{}, errors.New("this is no checkpoint of the log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func hashes(texts []string) ([]tlog.Hash, error) {
	var list []tlog.Hash
	for _, text := range texts {
		hash, err := tlog.ParseHash(text)
		if err != nil {
			return nil, err
		}
		list = append(list, hash)
	}
	return list, nil
}

func judge() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	verifier, err := note.NewVerifier(in.File.Verifier)
	if err != nil {
		return err
	}
	signers := []note.Verifier{verifier}
	if in.Witness != "" {
		seen, err := parseWitness(in.Witness)
		if err != nil {
			return err
		}
		signers = append(signers, seen)
	}
	if in.File.New != "" {
		old, err := open(in.File.Old, verifier)
		if err != nil {
			return err
		}
		grown, err := open(in.File.New, verifier)
		if err != nil {
			return err
		}
		proof, err := hashes(in.File.Proof)
		if err != nil {
			return err
		}
		return tlog.CheckTree(proof, grown.N, grown.Hash, old.N, old.Hash)
	}
	tree, err := open(in.File.Checkpoint, signers...)
	if err != nil {
		return err
	}
	if len(in.File.Records) == 0 {
		return errors.New("there are no records")
	}
	for _, record := range in.File.Records {
		proof, err := hashes(record.Proof)
		if err != nil {
			return err
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, record.Index, tlog.RecordHash(record.Leaf)); err != nil {
			return err
		}
		content := sha256.Sum256(append(append([]byte{2}, record.Salt...), record.Payload...))
		if len(record.Salt) > 0 && !bytes.Equal(content[:], record.Leaf[76:]) {
			return errors.New("content and leaf differ")
		}
	}
	return nil
}

func main() {
	if err := judge(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}
