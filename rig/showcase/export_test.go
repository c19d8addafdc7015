package showcase

// DatabaseURL is where the rows are.
func (s *Showcase) DatabaseURL() string { return s.server.URL }
