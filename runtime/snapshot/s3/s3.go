// Package s3 keeps snapshots in a bucket of an S3-compatible store.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// Scheme begins the addresses of such targets.
const Scheme = "s3://"

// DefaultEndpoint is asked when an address names no other.
const DefaultEndpoint = "s3.amazonaws.com"

type target struct {
	client  *minio.Client
	bucket  string
	prefix  string // "" or ends with a slash
	address string
}

// Open returns the target at an address: s3://BUCKET/PREFIX, with the parameters endpoint
// (host:port), region, and insecure=true for plain HTTP. Credentials come from the
// environment (AWS_ACCESS_KEY_ID and so on), from ~/.aws/credentials, or from the machine's role.
// The bucket must be there, and let this process in. If it does not answer, or only that it cannot now, the target comes with a *snapshot.AwayError.
func Open(ctx context.Context, address string) (snapshot.Target, error) {
	t, err := open(address, credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
	}))
	if err == nil {
		err = s3utils.CheckValidBucketName(t.bucket)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	there, err := t.client.BucketExists(ctx, t.bucket)
	if err != nil && !refuses(err) {
		return t, &snapshot.AwayError{Address: address, Cause: err}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if !there {
		return nil, fmt.Errorf("%s: there is no bucket %q at %s: make it, or name another", address, t.bucket, t.client.EndpointURL().Host)
	}
	return t, nil
}

// refuses reports whether an error is the answer that this process may not do what it asks for, which another try does not change.
func refuses(err error) bool {
	status := minio.ToErrorResponse(err).StatusCode
	return status >= 300 && status < 500 && status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

func open(address string, creds *credentials.Credentials) (*target, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if u.Scheme+"://" != Scheme || u.Host == "" {
		return nil, errors.New("an address is s3://BUCKET/PREFIX?endpoint=HOST:PORT&region=REGION")
	}
	q := u.Query()
	for name := range q {
		if name != "endpoint" && name != "region" && name != "insecure" {
			return nil, fmt.Errorf("there is no parameter %q: endpoint, region and insecure are", name)
		}
	}
	endpoint := q.Get("endpoint")
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	client, err := minio.New(endpoint, &minio.Options{Creds: creds, Region: q.Get("region"), Secure: q.Get("insecure") != "true"})
	if err != nil {
		return nil, err
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	named := Scheme + u.Host + "/" + prefix
	if u.RawQuery != "" {
		named += "?" + u.RawQuery
	}
	return &target{client: client, bucket: u.Host, prefix: prefix, address: named}, nil
}

// String implements snapshot.Target.
func (t *target) String() string { return t.address }

func (t *target) key(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("%q is no name of a part of a snapshot", name)
	}
	return t.prefix + name, nil
}

// partBytes is the size from which an object is sent in parts.
const partBytes = 16 << 20

// Put implements snapshot.Target. An object appears when all of it has arrived.
func (t *target) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	key, err := t.key(name)
	if err != nil {
		return err
	}
	_, err = t.client.PutObject(ctx, t.bucket, key, r, size, minio.PutObjectOptions{PartSize: partBytes, SendContentMd5: true})
	return err
}

// Get implements snapshot.Target.
func (t *target) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	key, err := t.key(name)
	if err != nil {
		return nil, err
	}
	o, err := t.client.GetObject(ctx, t.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := o.Stat(); err != nil { // the request is made here
		return nil, errors.Join(known(err), o.Close())
	}
	return o, nil
}

// known makes the error of an object that is not there an fs.ErrNotExist, and of one that this process may not read an fs.ErrPermission.
func known(err error) error {
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case minio.AccessDenied:
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}

// List implements snapshot.Target.
func (t *target) List(ctx context.Context, prefix string) ([]snapshot.Entry, error) {
	var list []snapshot.Entry
	for o := range t.client.ListObjects(ctx, t.bucket, minio.ListObjectsOptions{Prefix: t.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, o.Err
		}
		list = append(list, snapshot.Entry{Name: strings.TrimPrefix(o.Key, t.prefix), Size: o.Size})
	}
	return list, ctx.Err()
}

// Delete implements snapshot.Target.
func (t *target) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		key, err := t.key(name)
		if err == nil {
			err = t.client.RemoveObject(ctx, t.bucket, key, minio.RemoveObjectOptions{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
