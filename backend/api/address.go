package api

import "time"

// Address is one floating IP.
type Address struct {
	ID           string    `json:"id" format:"uuid"`
	Workspace    string    `json:"workspace"`
	Network      string    `json:"network"`
	Address      string    `json:"address"`
	Endpoint     string    `json:"endpoint" doc:"host:port for SSH from outside, if the address is behind NAT"`
	State        string    `json:"state"`
	StateMeans   string    `json:"state_means"`
	AllocationID string    `json:"allocation_id,omitempty"`
	LoginUser    string    `json:"login_user,omitempty"`
	Version      int64     `json:"version" doc:"changes with every change of the object; also its ETag"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// AddAddresses adds addresses to the pool of a network: all of them or none.
type AddAddresses struct {
	Network   string     `json:"network,omitempty" maxLength:"63" default:"default"`
	Addresses []AddRange `json:"addresses" minItems:"1" maxItems:"256" nullable:"false"`
}

// AddRange is one address or one range.
type AddRange struct {
	Range    string `json:"range" maxLength:"64" doc:"one address or a range, such as 10.0.0.5 or 10.0.0.5-10.0.0.20"`
	Endpoint string `json:"endpoint,omitempty" maxLength:"260" doc:"of a single address: host:port for SSH from outside, if it is behind NAT"`
}

// AddressFilter narrows a list of addresses.
type AddressFilter struct {
	PageQuery
	State   string `query:"state" maxLength:"32"`
	Network string `query:"network" maxLength:"63"`
}
