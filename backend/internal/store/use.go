package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
)

// The use of a unit as it is shown: never with another allocation than the one
// that it was measured of. u and a are the unit and its allocation.
const useColumn = `
       (SELECT jsonb_build_object('measured_at', w.measured_at, 'cpu_millis', w.cpu_millis, 'memory_bytes', w.memory_bytes,
                                  'cache_bytes', w.cache_bytes, 'processes', w.processes, 'disk_used_bytes', w.disk_used_bytes,
                                  'disk_bytes', w.disk_bytes, 'received_bytes', w.received_bytes, 'sent_bytes', w.sent_bytes,
                                  'receive_rate', w.receive_rate, 'send_rate', w.send_rate)
          FROM unit_use w
         WHERE w.unit_id = u.id AND w.allocation_id = a.id AND a.ended_at IS NULL) AS use`

// UnitUse is what the tenant of a unit used.
type UnitUse struct {
	UnitID, AllocationID uuid.UUID
	Use                  domain.Use
}

const sqlSetUse = `
INSERT INTO unit_use (unit_id, allocation_id, measured_at, cpu_millis, memory_bytes, cache_bytes, processes, disk_used_bytes, disk_bytes,
                      received_bytes, sent_bytes, receive_rate, send_rate)
SELECT a.unit_id, a.id, now(), n.cpu, n.memory, n.cache, n.processes, n.used, n.disk, n.received, n.sent, n.receive_rate, n.send_rate
  FROM unnest($1::UUID[], $2::UUID[], $3::INT8[], $4::INT8[], $5::INT8[], $6::INT8[], $7::INT8[], $8::INT8[],
              $9::INT8[], $10::INT8[], $11::INT8[], $12::INT8[])
       AS n(unit_id, allocation_id, cpu, memory, cache, processes, used, disk, received, sent, receive_rate, send_rate)
  JOIN allocations a ON a.id = n.allocation_id AND a.unit_id = n.unit_id AND a.ended_at IS NULL
ON CONFLICT (unit_id) DO UPDATE
   SET allocation_id = excluded.allocation_id, measured_at = excluded.measured_at, cpu_millis = excluded.cpu_millis,
       memory_bytes = excluded.memory_bytes, cache_bytes = excluded.cache_bytes, processes = excluded.processes,
       disk_used_bytes = excluded.disk_used_bytes, disk_bytes = excluded.disk_bytes,
       received_bytes = excluded.received_bytes, sent_bytes = excluded.sent_bytes, receive_rate = excluded.receive_rate,
       send_rate = excluded.send_rate`

// SetUse stores what was measured just now, in the place of what was before. Of
// an allocation that has ended since it was asked about, nothing is stored: its
// unit may have another tenant by now.
func (tx *Tx) SetUse(ctx context.Context, all []UnitUse) error {
	units, allocations := make([]uuid.UUID, len(all)), make([]uuid.UUID, len(all))
	var numbers [10][]*int64
	for i, u := range all {
		units[i], allocations[i] = u.UnitID, u.AllocationID
		for n, value := range []*int64{
			u.Use.CPUMillis, u.Use.MemoryBytes, u.Use.CacheBytes, u.Use.Processes, u.Use.DiskUsedBytes, u.Use.DiskBytes,
			u.Use.ReceivedBytes, u.Use.SentBytes, u.Use.ReceiveRate, u.Use.SendRate,
		} {
			numbers[n] = append(numbers[n], value)
		}
	}
	_, err := tx.Exec(ctx, sqlSetUse, units, allocations, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
		numbers[6], numbers[7], numbers[8], numbers[9])
	if err != nil {
		return fmt.Errorf("store use: %w", err)
	}
	return nil
}
