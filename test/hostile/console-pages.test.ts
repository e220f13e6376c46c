import { errorTable } from '@dispatch/contract'
import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { policies } from '../../plugins/console/browser/policies.ts'
import { script } from '../../plugins/console/browser/script.ts'
import { isIrreversible } from '../../plugins/hooks/irreversible.ts'
import { type ConsolePage, pagesOf, unlisted } from '../plugins/support/console-pages.ts'
import { openConsole } from '../plugins/support/console.ts'
import { furnished } from '../plugins/support/furnished.ts'
import { english, ownText } from '../plugins/support/own-text.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { operator, startService } from '../support/service.ts'
import { routesOf } from './support.ts'

const service = await startService(t, { config: { keepsRequestLog: true }, replacements: { renderer: quickRenderer } })
const { app, send } = service
const { open, post, signIn } = openConsole(service)
const company = await service.company('zanzibar')
const other = await service.company('other')
const cookies = { admin: await signIn(company.admin), operator: await signIn(operator), nobody: '' }
/** As long as a name may be, with characters that a page writes as several. */
const long = '"Müller & Söhne" <'.repeat(6).slice(0, 100)
const services = ['invoicing', 'esign', 'postal', 'sms', 'email', 'file', 'upload']
const furniture = { texts: ['zanzibar'], vendor: 'smtp', adapter: 'nothing' }
const { made } = await furnished(service, company, furniture)
const pages = pagesOf(made)
const see = ({ path, reader }: ConsolePage, language = 'en') => open(path, cookies[reader], { 'accept-language': language })

await t.test('the list of pages is that of the routes', async (t) => {
  t.same(await unlisted(app), { missing: [], gone: [] })
})

await t.test('no page may be framed, kept or read elsewhere, and none runs anything but the script of the console', async (t) => {
  for (const page of pages) {
    const { status, headers, body } = await see(page)
    t.ok(status < 500, `${page.path} is ${String(status)}`)
    // A redirect shows nothing.
    if (status === 303) continue
    has(t, Object.fromEntries(headers), {
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': /^clipboard-write=\(self\), publickey-credentials-create=\(self\), [^*"]*camera=\(\), /
    }, page.path)
    t.ok(Object.values(policies).some((policy) => policy === headers.get('content-security-policy')), page.path)
    lacks(t, (body as string).replace(`<script type="module" src="${script.path}"></script>`, ''), /<script|style="|\son\w+=/, page.path)
  }
})

await t.test('what is a company\'s is nobody else\'s, on every page', async (t) => {
  const theirs = await signIn(other.admin)
  for (const page of pages.filter(({ reader }) => reader !== 'nobody')) {
    const { status, headers } = await open(page.path, '')
    t.same([status, /^\/console(?:\/test)?\/sign-in/.test(headers.get('location') ?? '')], [303, true], `${page.path} needs a session`)
    const foreign = await open(page.path, theirs)
    if (page.ofCompany === true) t.equal(foreign.status, 404, page.path)
    if (page.reader === 'operator' && !['', '/marketplace'].includes(page.path)) t.equal(foreign.status >= 400, true, page.path)
    lacks(t, foreign.body, 'zanzibar', page.path)
  }
})

await t.test('a session that somebody else has chosen is no session, before the sign-in and after', async (t) => {
  const name = cookies.admin.split('=', 1)[0] ?? ''
  for (const chosen of [`${name}=chosen`, cookies.operator]) {
    const { headers } = await post('/sign-in', { email: other.admin.email, password: other.admin.password }, chosen)
    const given = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
    t.not(given, chosen)
    t.equal((await open('/company', given)).status, 200)
    lacks(t, (await open('/sessions', chosen)).body, other.admin.email, 'the chosen one is not signed in as them')
  }
})

await t.test('a French page says nothing in English, and no words of the API, but what is marked as such', async (t) => {
  const ofErrors = new RegExp(`\\b(?:${Object.keys(errorTable).filter((word) => word.includes('_')).join('|')})\\b`)
  for (const page of pages) {
    const text = ownText((await see(page, 'fr')).body as string)
    for (const words of [english, ofErrors]) t.notOk(words.test(text), `${page.path}: ${words.exec(text)?.[0] ?? ''}`)
  }
  contains(t, (await open('/dispatches?status=nonsense', cookies.admin, { 'accept-language': 'fr' })).body,
    'Choisissez parmi\u00a0: queued, ')
})

/** Has lists that are longer than a page, each row as long as it may be. */
async function fill (): Promise<void> {
  const { owner } = app.get('database')
  const { companyId } = company
  const many = sql`generate_series(900001, 900110) as n`
  const mail = (name: string): RawBuilder<string> => sql`${name.repeat(60)} || n || '@' || ${'d'.repeat(60)} || '.example.com'`
  await sql`insert into users (company_id, email, password_hash, password_set_at, role, services, created_at)
    select ${companyId}, ${
    mail('u')
  }, password_hash, now(), role, services, now() from users, ${many} where email = ${company.member.email}`.execute(
    owner
  )
  await sql`insert into companies (name, created_at) select ${long}, now() from ${many}`.execute(owner)
  await sql`insert into templates (template_id, company_id, name, version, updated_at)
    select n, ${companyId}, ${long.slice(0, 90)} || n, 1, now() from ${many}`.execute(owner)
  await sql`insert into template_versions (template_id, version, company_id, digest, source, schema, sample, created_at, published_at)
    select n, 1, ${companyId}, digest, source, schema, sample, now(), now() from ${many},
      (select digest, source, schema, sample from template_versions where template_id = 20 limit 1) as one`.execute(owner)
  await sql`insert into request_log (entry_id, company_id, user_id, request_id, method, route, path, status, milliseconds, address)
    select gen_random_uuid(), ${companyId}, 0, ${'r'.repeat(100)}, 'DELETE', ${long.repeat(2)}, ${
    long.repeat(3)
  }, 200, 1, '192.0.2.1' from ${many}`
    .execute(owner)
  await sql`insert into one_time_links (link_id, company_id, purpose, digest, email, role, services, made_by, made_at, expires_at)
    select gen_random_uuid(), ${companyId}, 'invitation', sha256(n::text::bytea), ${mail('i')}, 'member', ${services}, user_id, now(),
      now() + interval '1 day' from users, ${many} where email = ${company.admin.email}`.execute(owner)
  const browser = `${long} `.repeat(3).slice(0, 300)
  await sql`insert into sessions
    (session_id, company_id, user_id, digest, role, password_version, address, browser, created_at, used_at)
    select gen_random_uuid(), ${companyId}, user_id, sha256(n::text::bytea), role, password_version,
      '2001:db8:1111:2222:3333:4444:5555:6666', ${browser}, now(), now() from users, ${many}
    where email = ${company.admin.email} and n <= 900020`.execute(owner)
  await sql`insert into passkeys (passkey_id, company_id, user_id, credential, public_key, counter, transports, name, created_at, used_at)
    select gen_random_uuid(), ${companyId}, user_id, 'full-' || n, '', 0, '{}', ${long.slice(0, 60)}, now(), now() from users, ${many}
    where email = ${company.admin.email} and n <= 900020`.execute(owner)
  const facts = JSON.stringify({ name: long, email: `${'m'.repeat(60)}@example.com`, services, role: 'member', before: { name: long } })
  await sql`insert into audit
    (company_id, user_id, user_company_id, impersonator_id, key_id, action, object_kind, object_id, facts, address, request_id, at)
    select ${companyId}, user_id, company_id, 1, gen_random_uuid()::text, 'callback-endpoint.secret_changed', 'callback-endpoint',
      gen_random_uuid()::text, ${facts}::jsonb, '2001:db8:1111:2222:3333:4444:5555:6666', 'r', now()
    from users, ${many} where email = ${company.admin.email}`.execute(owner)
  for (let from = 0; from < 60; from += 10) {
    await Promise.all(Array.from({ length: 10 }, async () => {
      await send('POST', '/api/v1/keys', { body: { name: long, mode: 'live' } }, company.admin)
      await send('POST', '/api/sms', { body: { sms: { phoneNumber: '+33612345678', message: 'x' }, metadata: { note: long } } },
        company.admin)
    }))
  }
}

/** The bytes of what a page loads besides: as a browser gets them, and unpacked. An editor comes after the page. */
async function loaded (body: string): Promise<{ sent: number, unpacked: number, script: number }> {
  const paths = [...body.matchAll(/<(?:script type="module" src|link rel="stylesheet" href)="([^"]+)"/g)].map(([, path = '']) => path)
  const files = await Promise.all(paths.map(async (path) => {
    const { headers, body } = await open(path.replace('/console', ''), '', { 'accept-encoding': 'gzip' })
    return { path, sent: Number(headers.get('content-length')), unpacked: Buffer.byteLength(body as string) }
  }))
  const sum = (of: readonly number[]): number => of.reduce((all, one) => all + one, 0)
  return {
    sent: sum(files.map(({ sent }) => sent)),
    unpacked: sum(files.map(({ unpacked }) => unpacked)),
    script: sum(files.filter(({ path }) => path.endsWith('.js')).map(({ unpacked }) => unpacked))
  }
}

await t.test('no page is over 100 KB with its style and script, however full; its script is 40 KB at most, unpacked', async (t) => {
  await fill()
  for (const page of pages) {
    for (const language of ['en', 'fr']) {
      const { status, body: markup } = await see(page, language)
      // A redirect shows nothing.
      if (status === 303) continue
      const body = markup as string
      const { sent, unpacked, script } = await loaded(body)
      const size = Buffer.byteLength(body) + sent
      t.ok(size <= 100_000,
        `${page.path} (${page.reader}, ${language}) has ${String(size)} bytes, ${String(size - sent + unpacked)} unpacked`)
      t.ok(script > 0 && script <= 40_000, `${page.path} has a script of ${String(script)} bytes`)
    }
  }
})

/** What a form is sent to, by its route: things of the company. */
function pathOfForm (url: string, ids: Readonly<Record<string, string>>): string {
  const [, section = ''] = /^\/console(.*?)\/:(?:id|name|code|service)/.exec(url) ?? []
  return url.replace('/console', '').replace(/:(?:id|name|code|service)/, ids[section] ?? 'nothing').replaceAll(/:\w+/g, 'nothing')
}

/** Who may send a form. */
function readerOf (path: string): string {
  return /^\/(?:act|companies|company-deletions|link-mail|marketplace|oauth-apps|operation)\b/.test(path) ? cookies.operator : cookies.admin
}

await t.test('no form does what cannot be taken back, before its reader was asked or where there is no way back', async (t) => {
  const [keys, drafts, invitations] = await Promise.all(
    ['keys', 'drafts', 'company/invitations'].map(async (list) => (await send('GET', `/api/v1/${list}`, {}, company.admin)).body.data[0].id)
  )
  const ids = {
    '/approvals': made.approvalIds[0] ?? '',
    '/approvals/rules': made.ruleId,
    '/dispatches': made.dispatchIds[0] ?? '',
    '/batches': made.batchId,
    '/companies': String(made.companyId),
    '/company/users': String(made.userId),
    '/company/invitations': invitations,
    '/alerts': made.alertId,
    '/received': made.receivedId,
    '/contacts': made.contactId,
    '/developers/endpoints': made.endpointIds[0] ?? '',
    '/developers/keys': keys,
    '/drafts': drafts,
    '/e-reports': made.reportId,
    '/files': made.fileId,
    '/operation/holds': made.stepId,
    '/proposals': made.proposalIds[0] ?? '',
    '/providers': made.provider,
    '/privacy': made.erasureId,
    '/suppressions': made.suppressionId,
    '/templates': String(made.templateIds[0]),
    '/assets': made.asset,
    '/partials': made.asset,
    '/services': 'sms'
  }
  // Who sends what an endpoint has not received again is asked where there is something.
  await sql`insert into outbox (callback_id, company_id, endpoint_id, type, sequence, receiver, body, state, created_at)
    values (gen_random_uuid(), ${made.companyId}, ${ids['/developers/endpoints']}, 'dispatch.failed', 1, '', '{}', 'failed', now())`
    .execute(app.get('database').owner)
  const changes = async (): Promise<unknown> =>
    (await sql`select count(*) from audit where action not like 'session.%'`.execute(app.get('database').owner)).rows
  const forms = (await routesOf(app)).filter(({ method, url }) => method === 'POST' && url.startsWith('/console/'))
  const asking = forms.filter(({ config }) => typeof config.confirms === 'function')
  const before = await changes()
  const unasked: string[] = []
  for (const { url } of asking) {
    const path = pathOfForm(url, ids)
    const chosen = { 'dispatch-0': `${ids['/dispatches']} `, 'row-0': made.contactId }
    const sent = { amount: '5', disabled: 'true', version: 'x', since: '2020-01-01', why: 'x', ...chosen }
    const { status, body } = await post(path, sent, readerOf(path))
    if (String(body).includes('name=":confirmed" value="true"')) t.equal(status, 200, path)
    else unasked.push(url)
  }
  // Of an adapter and a version that are not there nothing can be said.
  t.same(unasked.map((url) => url.slice('/console'.length)).toSorted(), [
    // Its own test gives the name of a company that may be deleted.
    '/company-deletions',
    '/marketplace/:code/disable',
    // These ask where they are forced.
    '/marketplace/:code/offer',
    '/marketplace/:code/remove',
    '/marketplace/:code/rollback',
    '/marketplace/:code/upgrade',
    '/templates/:id/publish'
  ])
  t.same(await changes(), before, 'nothing was done by asking')
  const ways = (way: string): string[] =>
    forms.filter(({ config }) => config.confirms === way).map(({ url }) => url.slice('/console'.length))
  t.same(ways('undone').toSorted(), [
    // The answer has a form that adds it again.
    '/approvals/rules/:id/remove',
    '/contacts/:id/delete',
    // It only counts.
    '/privacy',
    // Whoever is signed out signs in.
    '/sessions/:id/end',
    '/sign-out',
    // As that of a contact.
    '/usage/budgets/:id/remove'
  ])
  t.same(ways('form').toSorted(), [
    // The page shows all that would be sent, and asks for a decision.
    '/approvals/:id/approve',
    '/approvals/:id/refuse',
    // They ask what was found out, and why.
    '/dispatches/:id/resolve',
    // As that of an approval.
    '/e-reports/:id/send',
    '/operation/holds/:id/resolve',
    // They ask for the password or a code.
    '/second-factor/passkeys/:id/remove',
    '/second-factor/recovery-codes',
    '/second-factor/remove',
    '/sign-on/unlink',
    // A page of its own asks why.
    '/suppressions/:id/remove'
  ])
  for (const { url } of forms.filter(({ config }) => config.confirms === undefined)) {
    const path = pathOfForm(url, ids)
    t.not((await post(path, {}, readerOf(path))).status, 500, `${url} does nothing that it should have asked before`)
  }
})

await t.test('what the API cannot take back is decided', async (t) => {
  const operations = (await routesOf(app)).filter(({ method, config }) => method !== 'DELETE' && isIrreversible(method, config))
  t.same(operations.map(({ operation }) => operation).toSorted(), [
    'approve',
    'beginErasure',
    'cancelBatch',
    'cancelDispatch',
    'createCallbackSecret',
    'createErasure',
    'creditCompany',
    'declineProposal',
    'deleteCompany',
    'refuseApproval',
    'removeMyPasskey',
    'removeMySecondFactor',
    'renewMyRecoveryCodes',
    'resetUser',
    'resolveDispatch',
    'resolveHold',
    'rotateCallbackEndpointSecret',
    'sayInvoiceStatus',
    'sayReceivedInvoiceStatus',
    'sendEReport',
    'setRetention',
    'unlinkMySingleSignOn',
    'withdrawApproval'
  ])
})
