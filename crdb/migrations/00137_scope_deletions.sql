-- +goose NO TRANSACTION
-- +goose Up

-- A scope that is deleted with all that is in it takes nothing new from then on. The check has another name in each database.
ALTER TABLE organizations DROP CONSTRAINT IF EXISTS organizations_state_check;

ALTER TABLE organizations DROP CONSTRAINT IF EXISTS check_state;

ALTER TABLE organizations DROP CONSTRAINT IF EXISTS organizations_state_known;

ALTER TABLE organizations ADD CONSTRAINT organizations_state_known CHECK (state IN ('active', 'suspended', 'deleting', 'removed'));

ALTER TABLE projects DROP CONSTRAINT IF EXISTS projects_state_check;

ALTER TABLE projects DROP CONSTRAINT IF EXISTS check_state;

ALTER TABLE projects DROP CONSTRAINT IF EXISTS projects_state_known;

ALTER TABLE projects ADD CONSTRAINT projects_state_known CHECK (state IN ('active', 'suspended', 'deleting', 'removed'));

ALTER TABLE workspaces DROP CONSTRAINT IF EXISTS workspaces_state_check;

ALTER TABLE workspaces DROP CONSTRAINT IF EXISTS check_state;

ALTER TABLE workspaces DROP CONSTRAINT IF EXISTS workspaces_state_known;

ALTER TABLE workspaces ADD CONSTRAINT workspaces_state_known CHECK (state IN ('active', 'suspended', 'deleting', 'removed'));

-- The job that deletes the scope, or a scope above it; NULL: none was asked for, or the last one was cancelled.
ALTER TABLE organizations ADD COLUMN IF NOT EXISTS deletion_job_id UUID;

ALTER TABLE projects ADD COLUMN IF NOT EXISTS deletion_job_id UUID;

ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS deletion_job_id UUID;

-- What the job of a deletion asked for: the end of an allocation, a cluster, ... by its own job.
CREATE TABLE IF NOT EXISTS scope_deletion_parts ( -- no noun: a part of the job that deletes a scope
    job_id    UUID NOT NULL,                       -- of the deletion
    object_id UUID NOT NULL,
    noun      TEXT NOT NULL,
    asked_at  TIMESTAMPTZ NOT NULL DEFAULT now(),  -- before the job was retried: what failed is asked for again
    PRIMARY KEY (job_id, object_id)
);

-- The plan of a deletion is about a scope instead of a host, and no playbook runs. It stands in a workspace that goes.
ALTER TABLE plans ALTER COLUMN host_id DROP NOT NULL;

ALTER TABLE plans ALTER COLUMN playbook_version_id DROP NOT NULL;

ALTER TABLE plans ADD COLUMN IF NOT EXISTS scope TEXT; -- 'organization', 'project' or 'workspace'; NULL: about a host

ALTER TABLE plans ADD COLUMN IF NOT EXISTS scope_id UUID; -- that is deleted

ALTER TABLE plans ADD COLUMN IF NOT EXISTS scope_path TEXT; -- as it was called

ALTER TABLE plans ADD COLUMN IF NOT EXISTS scope_ids UUID[]; -- of all that go: rules at each of them bind the plan

ALTER TABLE plans ADD COLUMN IF NOT EXISTS approver_ids UUID[]; -- scopes whose approvers decide: the one that is deleted and those above

-- +goose Down
SELECT 1;
