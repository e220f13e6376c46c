import type { App } from '../../../plugins/container.ts'
import { routesOf } from '../../hostile/support.ts'

/** What a company has made, by which its pages are found. */
export type Made = {
  companyId: number
  userId: number
  dispatchIds: readonly string[]
  documentId: string
  batchId: string
  suppressionId: string
  erasureId: string
  /** Of a step in doubt. */
  stepId: string
  templateIds: readonly number[]
  contactId: string
  alertId: string
  ruleId: string
  reportId: string
  receivedId: string
  endpointIds: readonly string[]
  approvalIds: readonly string[]
  proposalIds: readonly string[]
  /** The name of a picture. */
  asset: string
  fileId: string
  /** A draft of an e-invoice. */
  eInvoiceDraftId: string
  /** A link of an invitation that nobody has used. */
  token: string
  /** An installed provider with settings, and an adapter of a catalog. */
  provider: string
  adapter: string
}

/** Who looks at a page. */
export type Reader = 'admin' | 'operator' | 'nobody'

/** `ofCompany`: its path names something of a company, which no other company sees. */
export type ConsolePage = { path: string, reader: Reader, ofCompany?: true }

const admin = (...paths: readonly string[]): ConsolePage[] => paths.map((path) => ({ path, reader: 'admin' }))
const operator = (...paths: readonly string[]): ConsolePage[] => paths.map((path) => ({ path, reader: 'operator' }))
const nobody = (...paths: readonly string[]): ConsolePage[] => paths.map((path) => ({ path, reader: 'nobody' }))
const own = (...paths: readonly string[]): ConsolePage[] => paths.map((path) => ({ path, reader: 'admin', ofCompany: true }))

/** Each route of the console that a browser can open, below `/console`, with the pages that stand there. */
const pages: Readonly<Record<string, (made: Made) => ConsolePage[]>> = {
  '': () => [...admin('', '/test'), ...operator('')],
  '/*': () => admin('/nothing'),
  '/assets': () => admin('/assets'),
  '/assets/:name': ({ asset }) => own(`/assets/${asset}`),
  '/approvals': () => admin('/approvals', '/approvals?all=true'),
  '/approvals/:id': ({ approvalIds }) => own(...approvalIds.map((id) => `/approvals/${id}`)),
  '/approvals/rules': () => admin('/approvals/rules'),
  '/approvals/rules/:id': ({ ruleId }) => own(`/approvals/rules/${ruleId}`),
  '/audit': () => admin('/audit', '/audit?action=nothing'),
  '/batches': () => admin('/batches'),
  '/batches/:id': ({ batchId }) => own(`/batches/${batchId}`),
  '/received': () => admin('/received'),
  '/received/:id': ({ receivedId }) => own(`/received/${receivedId}`),
  '/alerts': () => admin('/alerts'),
  '/alerts/:id': ({ alertId }) => own(`/alerts/${alertId}`),
  '/gallery': () => operator('/gallery'),
  '/companies': () => operator('/companies'),
  '/companies/:id': ({ companyId }) => operator(`/companies/${String(companyId)}`),
  '/company-deletions': () => operator('/company-deletions', '/company-deletions?company=7'),
  '/companies/:id/setup': ({ companyId }) => operator(`/companies/${String(companyId)}/setup`),
  '/companies/:id/users/:userId': ({ companyId, userId }) => operator(`/companies/${String(companyId)}/users/${String(userId)}`),
  '/company': () => admin('/company'),
  '/company/invitations': () => admin('/company/invitations'),
  '/company/single-sign-on': () => admin('/company/single-sign-on'),
  '/company/users/:id': ({ userId }) => own(`/company/users/${String(userId)}`),
  '/partials': () => admin('/partials'),
  '/partials/:name': ({ asset }) => own(`/partials/${asset}`),
  '/partials/new': () => admin('/partials/new'),
  '/partials/new/blocks': () => admin('/partials/new/blocks'),
  '/partials/:id/blocks': ({ asset }) => own(`/partials/${asset}/blocks`),
  '/oauth-apps': () => operator('/oauth-apps'),
  '/company/brand': () => admin('/company/brand'),
  '/company/details': () => admin('/company/details'),
  '/contacts': () => admin('/contacts', '/contacts?q=nobody'),
  '/contacts/:id': ({ contactId }) => own(`/contacts/${contactId}`),
  '/credits': () => admin('/credits'),
  '/device': () => admin('/device'),
  '/developers': () => admin('/developers'),
  '/developers/events': () => admin('/developers/events'),
  '/developers/endpoints': () => admin('/developers/endpoints'),
  '/developers/endpoints/:id': ({ endpointIds }) => own(...endpointIds.map((id) => `/developers/endpoints/${id}`)),
  '/developers/requests': () => admin('/developers/requests'),
  '/dispatches': () => admin('/dispatches', '/test/dispatches', '/dispatches?status=failed', '/dispatches?status=nonsense'),
  '/dispatches/:id': ({ dispatchIds }) => own(...dispatchIds.map((id) => `/dispatches/${id}`)),
  '/dispatches/retry': () => admin('/dispatches/retry?status=failed'),
  '/drafts': () => admin('/drafts'),
  '/find': () => admin('/find', '/find?q=sim', '/find?q=nothing'),
  '/forgotten': () => nobody('/forgotten'),
  '/link-mail': () => operator('/link-mail'),
  '/link/:token': ({ token }) => nobody(`/link/${token}`),
  '/link/done': () => nobody('/link/done'),
  '/marketplace': () => [...admin('/marketplace'), ...operator('/marketplace')],
  '/marketplace/:code': ({ adapter }) => operator(`/marketplace/${adapter}`),
  '/operation': () => operator('/operation'),
  '/operation/dispatches': () => operator('/operation/dispatches?search=F-2026-001'),
  '/operation/holds': () => operator('/operation/holds'),
  '/operation/holds/:id': ({ stepId }) => operator(`/operation/holds/${stepId}`),
  '/proposals': () => admin('/proposals'),
  '/proposals/:id': ({ proposalIds }) => own(...proposalIds.map((id) => `/proposals/${id}`)),
  '/providers': () => admin('/providers'),
  '/providers/:code': ({ provider }) => admin(`/providers/${provider}`, '/providers/smtp'),
  '/providers/:code/connect': ({ provider }) => admin(`/providers/${provider}/connect`),
  '/providers/:code/connected': ({ provider }) => admin(`/providers/${provider}/connected`),
  '/providers/:code/try': ({ provider }) => admin(`/providers/${provider}/try`),
  '/second-factor': () => admin('/second-factor'),
  '/send': ({ templateIds: [id] }) => [...admin('/send', '/send?q=a'), ...own(
    ...['', '&service=postal'].map((more, index) =>
      `/send?template=${String(id)}${more}&draft=00000000-0000-4000-8000-00000000000${String(index)}`
    )
  )],
  '/send/e-invoices': ({ eInvoiceDraftId: id }) => own(`/send/e-invoices?draft=${id}`, `/send/e-invoices?draft=${id}&profile=BASIC`),
  '/services/:service': () => admin('/services/invoicing', '/services/invoicing?to=simulator'),
  '/kept': () => admin('/kept'),
  '/sessions': () => admin('/sessions'),
  '/sign-in': () => nobody('/sign-in'),
  '/sign-in/code': () => nobody('/sign-in/code'),
  '/sign-on': () => nobody('/sign-on'),
  '/sign-on/callback': () => nobody('/sign-on/callback?error=access_denied'),
  '/sign-on/callback/:name': () => nobody('/sign-on/callback/0123456789abcdef?error=access_denied'),
  '/sign-on/link': () => admin('/sign-on/link'),
  '/templates': () => admin('/templates'),
  '/templates/:id': ({ templateIds: [first, ...others] }) =>
    own(...[`${String(first)}?format=HTML`, first, ...others].map((id) => `/templates/${String(id)}`)),
  '/templates/:id/difference': ({ templateIds: [id] }) => own(`/templates/${String(id)}/difference?from=1&to=2`),
  '/e-invoices': () => admin('/e-invoices'),
  '/e-reports': () => admin('/e-reports'),
  '/e-reports/:id': ({ reportId }) => own(`/e-reports/${reportId}`),
  '/e-reports/settings': () => admin('/e-reports/settings'),
  '/files': () => admin('/files'),
  '/privacy': () => admin('/privacy'),
  '/privacy/retention': () => admin('/privacy/retention'),
  '/privacy/:id': ({ erasureId }) => own(`/privacy/${erasureId}`),
  '/suppressions': () => admin('/suppressions', '/suppressions?search=nobody'),
  '/suppressions/:id': ({ suppressionId }) => own(`/suppressions/${suppressionId}`),
  '/suppressions/templates': () => admin('/suppressions/templates'),
  '/templates/:id/e-invoices': () => admin('/templates/4/e-invoices', '/templates/4/e-invoices?profile=XRECHNUNG&format=UBL'),
  '/templates/:id/edit': ({ templateIds: [id] }) => own(`/templates/${String(id)}/edit`),
  '/templates/:id/blocks': ({ templateIds: [id] }) => own(`/templates/${String(id)}/blocks`),
  '/templates/new/blocks': () => admin('/templates/new/blocks', '/templates/new/blocks?from=1'),
  '/usage': () => admin('/usage', '/usage?period=day', '/usage?period=year', '/test/usage'),
  '/usage/prices': () => admin('/usage/prices'),
  '/usage/budgets': () => admin('/usage/budgets'),
  '/templates/new': () => admin('/templates/new', '/templates/new?from=1')
}

/** What answers with something else than a page of the console. */
const noPages: Readonly<Record<string, string>> = {
  '/:file.css': 'the style',
  '/:file.js': 'scripts',
  '/audit.csv': 'a file',
  '/begin': 'leads to the first page',
  '/batches/:id/results.csv': 'a file',
  '/editor/:name': 'a script',
  '/dispatches.csv': 'a file',
  '/dispatches/:id/changes': 'a stream of events',
  '/dispatches/:id/documents/:document': 'a document',
  '/dispatches/:id/messages/:step': 'a mail in a sandbox',
  '/dispatches/changes': 'a stream of events',
  '/approvals/:id/templates/:nth': 'a document',
  '/approvals/:id/documents/:nth': 'a document',
  '/e-reports/:id/report.xml': 'a file',
  '/received/:id/page': 'a page of what somebody has sent',
  '/received/:id/file': 'a file',
  '/received/:id/pdf': 'a file',
  '/proposals/:id/templates/:nth': 'a document',
  '/proposals/:id/documents/:nth': 'a document',
  '/send/preview': 'what a frame says before there is a document',
  '/sign-in-again': 'leads to the sign-in',
  '/suppressions/suppressions.csv': 'a file',
  '/templates/:id/preview': 'a document',
  '/usage/usage.csv': 'a file'
}

/** All pages of the console. */
export function pagesOf (made: Made): ConsolePage[] {
  return Object.values(pages).flatMap((of) => of(made))
}

/** The routes of the console that the list above lacks, and those that are no more. Both are empty. */
export async function unlisted (app: App): Promise<{ missing: string[], gone: string[] }> {
  const found = (await routesOf(app)).filter(({ method, url }) => method === 'GET' && url.startsWith('/console'))
    .map(({ url }) => url.replace('/console', '').replace(/^\/$/, '').replace(/\/[\w-]+\.(css|js)$/, '/:file.$1'))
  const listed = [...Object.keys(pages), ...Object.keys(noPages)]
  return {
    missing: [...new Set(found)].filter((url) => !listed.includes(url)),
    gone: listed.filter((url) => !found.includes(url))
  }
}
