-- Statements that the area puts together at run time; written by go test -run Assembled -update

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
  AND (t.wave, t.name, t.target_id) < ($2, $3, $4)
ORDER BY t.wave DESC, t.name DESC, t.target_id DESC
LIMIT $5;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
  AND (t.wave, t.name, t.target_id) > ($2, $3, $4)
ORDER BY t.wave, t.name, t.target_id
LIMIT $5;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
  AND t.state = $2
  AND (t.wave, t.name, t.target_id) < ($3, $4, $5)
ORDER BY t.wave DESC, t.name DESC, t.target_id DESC
LIMIT $6;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
  AND t.state = $2
  AND (t.wave, t.name, t.target_id) > ($3, $4, $5)
ORDER BY t.wave, t.name, t.target_id
LIMIT $6;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
  AND t.state = $2
ORDER BY t.wave DESC, t.name DESC, t.target_id DESC
LIMIT $3;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
  AND t.state = $2
ORDER BY t.wave, t.name, t.target_id
LIMIT $3;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
ORDER BY t.wave DESC, t.name DESC, t.target_id DESC
LIMIT $2;

SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true
  AND t.rollout_id = $1
ORDER BY t.wave, t.name, t.target_id
LIMIT $2;
