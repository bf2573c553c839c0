package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kera-lang/kera/pluginapi/sdk"
)

// tamper spoils answers on their way out, below the typed interface: what a
// broken or a later plugin would send. Messages are reached by reflection, as
// generated types stay inside pluginapi.
func tamper(b *backend) []sdk.ServeOption {
	return []sdk.ServeOption{sdk.WithServerOptions(
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			resp, err := next(ctx, req)
			if m, ok := resp.(proto.Message); ok && b.mode == "unknown-fields" {
				addUnknown(m)
			}
			return resp, err
		}),
		grpc.ChainStreamInterceptor(func(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			return next(srv, &tamperStream{ServerStream: ss, mode: b.mode})
		}),
	)}
}

type tamperStream struct {
	grpc.ServerStream
	mode string
}

// RecvMsg learns the mode from the request's options.
func (t *tamperStream) RecvMsg(m any) error {
	err := t.ServerStream.RecvMsg(m)
	if pm, ok := m.(proto.Message); ok && err == nil {
		r := pm.ProtoReflect()
		if f := r.Descriptor().Fields().ByName("options"); f != nil && f.IsMap() {
			if v := r.Get(f).Map().Get(protoreflect.ValueOfString("mode").MapKey()); v.IsValid() {
				t.mode = v.String()
			}
		}
	}
	return err
}

func (t *tamperStream) SendMsg(m any) error {
	pm, ok := m.(proto.Message)
	if !ok {
		return t.ServerStream.SendMsg(m)
	}
	r := pm.ProtoReflect()
	result := r.Descriptor().Fields().ByName("result")
	isResult := result != nil && r.Has(result)
	switch {
	case t.mode == "unknown-fields":
		if isResult {
			// An event of a later version before the last one.
			event := r.New()
			event.SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 99, protowire.BytesType), []byte("later")))
			if err := t.ServerStream.SendMsg(event.Interface()); err != nil {
				return err
			}
		}
		addUnknown(pm)
	case !isResult:
	case t.mode == "malformed":
		set(r.Mutable(result).Message(), "section_descriptor", protoreflect.ValueOfBytes([]byte("not a descriptor")))
	case t.mode == "bad-digest":
		set(r.Mutable(result).Message(), "artifact_digest", protoreflect.ValueOfBytes(make([]byte, 32)))
	case t.mode == "short":
		set(r.Mutable(result).Message(), "artifact_length", protoreflect.ValueOfUint64(1<<20))
	case t.mode == "no-result":
		return nil
	}
	return t.ServerStream.SendMsg(m)
}

func set(m protoreflect.Message, field protoreflect.Name, v protoreflect.Value) {
	m.Set(m.Descriptor().Fields().ByName(field), v)
}

// addUnknown adds a field of a later version to every message and a value of a
// later version to every repeated enum.
func addUnknown(m proto.Message) {
	var walk func(protoreflect.Message)
	walk = func(r protoreflect.Message) {
		r.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.IsList() && f.Kind() == protoreflect.EnumKind:
				v.List().Append(protoreflect.ValueOfEnum(4711))
			case f.IsList() && f.Kind() == protoreflect.MessageKind:
				for i := range v.List().Len() {
					walk(v.List().Get(i).Message())
				}
			case !f.IsMap() && f.Kind() == protoreflect.MessageKind:
				walk(v.Message())
			}
			return true
		})
		r.SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1))
	}
	walk(m.ProtoReflect())
}
