import { defineFeature, service } from '@dispatch/plugins/feature'
import { batches } from '../batches/service/batches.ts'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { approvals, createApprovals } from './service/approvals.ts'
import { approvalDesk, createApprovalDesk } from './service/desk.ts'
import { workOnApprovals } from './service/notify.ts'
import { approvalRules, createApprovalRules } from './service/rules.ts'
import { approvalFileUse, fillApprovals } from './store/approvals.ts'
import { approvalsHolder } from './store/holder.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { scopes: ['send', 'propose', 'read_all'] } as const
const deciding = { person: true } as const
const ruling = { roles: ['admin'], person: true, freshProof: true } as const

const pagesOf = ({ publicUrl, showsConsole }: { publicUrl: string, showsConsole: boolean }): string | undefined =>
  showsConsole ? `${publicUrl}/console/approvals` : undefined

/** Four eyes: what a company sends only after somebody else has said yes. */
export default defineFeature({
  name: 'approvals',
  needs: {
    ...service('accounts', 'config', 'database', 'freshness', 'linkMail', 'log', 'newId', 'now', 'outbox', 'pipeline'),
    batches,
    approvalDesk,
    approvalRules,
    approvals
  },
  provides: (provide) => [
    provide(approvalDesk,
      ({ config: { publicUrl }, database, freshness, newId, now }) => createApprovalDesk({ database, freshness, publicUrl, newId, now })),
    provide(approvalRules, ({ database, newId, now }) => createApprovalRules({ database, newId, now })),
    provide(approvals,
      ({ accounts, batches: held, config, database, now, outbox, pipeline }) =>
        createApprovals({ accounts, batches: held, database, now, outbox, pipeline, pages: pagesOf(config) }))
  ],
  tables: { approval_rules: 'company', approvals: 'company' },
  migrations: {
    'approvals/001-approvals': () => import('./migrations/001-approvals.ts'),
    'approvals/002-consents': () => import('./migrations/002-consents.ts')
  },
  approvals: (given) => given.approvalDesk,
  namesFiles: ({ database }) => approvalFileUse(database),
  holds: (given) => [approvalsHolder(given.database, (ref, author) => given.approvals.end(ref, author))],
  routes,
  before: 'listDispatches',
  permissions: {
    listApprovals: reading,
    readApproval: reading,
    listApprovalRows: reading,
    approve: { ...deciding, irreversible: true },
    refuseApproval: { ...deciding, irreversible: true },
    withdrawApproval: { scopes: ['send'], irreversible: true },
    listApprovalRules: { roles: ['admin', 'member'], scopes: ['read_all', 'configuration'] },
    addApprovalRule: ruling,
    changeApprovalRule: ruling,
    removeApprovalRule: ruling
  },
  pages,
  menu: [{ section: 'approvals', path: '/console/approvals', label: { en: en.approvals, fr: fr.approvals }, after: 'batches' }],
  work: ({ approvals: held, config, database, linkMail, log, now, outbox }) =>
    workOnApprovals({ approvals: held, database, linkMail, log, now, outbox, publicUrl: config.publicUrl, pages: pagesOf(config) }),
  audit: {
    'approval.requested': { en: en.auditRequested, fr: fr.auditRequested },
    'approval.consented': { en: en.auditConsented, fr: fr.auditConsented },
    'approval.approved': { en: en.auditApproved, fr: fr.auditApproved },
    'approval.refused': { en: en.auditRefused, fr: fr.auditRefused },
    'approval.withdrawn': { en: en.auditWithdrawn, fr: fr.auditWithdrawn },
    'approval.expired': { en: en.auditExpired, fr: fr.auditExpired },
    'approval.lapsed': { en: en.auditLapsed, fr: fr.auditLapsed },
    'approval.returned': { en: en.auditReturned, fr: fr.auditReturned },
    'approval_rule.added': { en: en.auditRuleAdded, fr: fr.auditRuleAdded },
    'approval_rule.changed': { en: en.auditRuleChanged, fr: fr.auditRuleChanged },
    'approval_rule.removed': { en: en.auditRuleRemoved, fr: fr.auditRuleRemoved }
  },
  isolation: fillApprovals
})
