/**
 * What holds of every row although no constraint says so, because to prove it with each statement took a tenth of the database's time for
 * a dispatch (`core/store/migrations/051-lean-writes.ts`, `053-lean-credits.ts`). Each answers the rows that break it, with their
 * `dispatch_id`.
 */
export const rowRules: Readonly<Record<string, string>> = {
  'a dispatch has a known status': `
    select dispatch_id, status from dispatches
    where status not in ('queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled')`,
  'a lease has a run and an end':
    'select dispatch_id, run_id, leased_until from dispatches where (run_id is null) <> (leased_until is null)',
  'only a queued dispatch has a next try':
    'select dispatch_id, status, next_try_at from dispatches where next_try_at is not null and status <> \'queued\'',
  'a dispatch is of a user of its company, or of somebody who acts as one': `
    select dispatch_id, dispatches.user_id, impersonator_id from dispatches left join users using (user_id)
    left join users as impersonator on impersonator.user_id = impersonator_id
    where users.company_id is distinct from dispatches.company_id or (impersonator_id is not null and impersonator.user_id is null)`,
  'a step has a known status': `
    select dispatch_id, step_id, status from steps
    where status not in ('planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain', 'waiting', 'skipped')`,
  'a step has a provider with its version and both reasons, or none': `
    select dispatch_id, step_id, provider_code, provider_version, chosen_by, configured_by from steps
    where num_nulls(provider_code, provider_version, chosen_by, configured_by) not in (0, 4)
      or chosen_by not in ('request', 'user', 'company') or configured_by not in ('user', 'company', 'nobody')`,
  'only a step in doubt is looked up':
    'select dispatch_id, step_id, status from steps where next_look_at is not null and status <> \'uncertain\'',
  'an attempt has a known outcome': `
    select step_id, outcome from attempts where outcome not in ('accepted', 'rejected', 'unavailable', 'uncertain')`,
  'a warning of low credits is armed, due or told':
    'select company_id, warning from credits where warning not in (\'armed\', \'due\', \'told\')',
  'what is about a dispatch is about one of its company': `
    with about as (
      select 'steps' as what, company_id, dispatch_id from steps
      union all select 'events', company_id, dispatch_id from events
      union all select 'metadata', company_id, dispatch_id from dispatch_metadata
      union all select 'attempts', attempts.company_id, dispatch_id from attempts left join steps using (step_id)
    ) select what, about.dispatch_id from about left join dispatches using (dispatch_id, company_id) where dispatches.dispatch_id is null`
}
