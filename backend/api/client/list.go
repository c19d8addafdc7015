package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"kloigos/backend/api"
)

func list[T any](ctx context.Context, c *Client, path string, filter any) (api.Page[T], error) {
	page, _, err := send[api.Page[T]](ctx, c, request{method: http.MethodGet, path: path, query: queryOf(filter)})
	return page, err
}

// all follows next_cursor from page to page. It yields the first error, once,
// and ends.
func all[T any](page func(cursor string) (api.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := ""; ; {
			p, err := page(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == "" || p.NextCursor == cursor {
				return
			}
			cursor = p.NextCursor
		}
	}
}

// queryOf turns a filter into query parameters by its `query` tags; zero
// values are left out.
func queryOf(filter any) url.Values {
	q := url.Values{}
	if filter != nil {
		addQuery(q, reflect.ValueOf(filter))
	}
	return q
}

func addQuery(q url.Values, v reflect.Value) {
	for i := range v.NumField() {
		field, value := v.Type().Field(i), v.Field(i)
		if field.Anonymous && value.Kind() == reflect.Struct {
			addQuery(q, value)
			continue
		}
		name := field.Tag.Get("query")
		if name == "" || value.IsZero() {
			continue
		}
		switch value.Kind() {
		case reflect.Int, reflect.Int64:
			q.Set(name, strconv.FormatInt(value.Int(), 10))
		case reflect.Bool:
			q.Set(name, strconv.FormatBool(value.Bool()))
		default:
			q.Set(name, value.String())
		}
	}
}

// jobOf returns the id of the job that a long request made, out of Location.
func jobOf(h http.Header) string {
	u, err := url.Parse(h.Get("Location"))
	if err != nil {
		return ""
	}
	const jobs = api.Prefix + "/jobs/"
	if len(u.Path) <= len(jobs) || u.Path[:len(jobs)] != jobs {
		return ""
	}
	return u.Path[len(jobs):]
}

// long carries out a request that makes a job; it returns the object and the
// job's id.
func long[T any](ctx context.Context, c *Client, method, path string, body any, opts []Option) (T, string, error) {
	out, h, err := send[T](ctx, c, request{method: method, path: path, body: body}, opts...)
	return out, jobOf(h), err
}

func get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	out, _, err := send[T](ctx, c, request{method: http.MethodGet, path: path, query: query})
	return out, err
}

func post[T any](ctx context.Context, c *Client, path string, body any, opts []Option) (T, error) {
	out, _, err := send[T](ctx, c, request{method: http.MethodPost, path: path, body: body}, opts...)
	return out, err
}

func put[T any](ctx context.Context, c *Client, path string, body any, opts []Option) (T, error) {
	out, _, err := send[T](ctx, c, request{method: http.MethodPut, path: path, body: body}, opts...)
	return out, err
}

func patch[T any](ctx context.Context, c *Client, path string, body any, opts []Option) (T, error) {
	out, _, err := long[T](ctx, c, http.MethodPatch, path, body, opts)
	return out, err
}

func remove(ctx context.Context, c *Client, path string, opts []Option) error {
	resp, err := c.do(ctx, request{method: http.MethodDelete, path: path}, opts...)
	if err != nil {
		return err
	}
	drain(resp.Body)
	return resp.Body.Close()
}

func pathOf(collection, id string, rest ...string) string {
	p := "/" + collection + "/" + url.PathEscape(id)
	for _, r := range rest {
		p += "/" + url.PathEscape(r)
	}
	return p
}
