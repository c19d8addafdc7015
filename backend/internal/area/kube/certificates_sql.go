package kube

// What was read before says nothing about the other certificates of a control plane.
const sqlForgetCertificatesEnd = `
UPDATE kube_nodes
   SET certificates_end = NULL, updated_at = now()
 WHERE cluster_id = $1`

const sqlSetCertificatesEnd = `
UPDATE kube_nodes
   SET certificates_end = $2, version = version + 1, updated_at = now()
 WHERE id = $1`
