import { defineFeature, service } from '@dispatch/plugins/feature'
import { proposalsPages } from './pages/proposals.ts'
import { assistantsRoutes } from './routes/routes.ts'
import { createProposals, proposals, sweepProposals } from './service/proposals.ts'
import { fillProposals, proposalFileUse, proposalsHolder } from './store/proposals.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const proposing = { scopes: ['send', 'propose'] } as const
const deciding = { person: true } as const

/** Assistants: tools for them (Model Context Protocol), and proposals, which people send or decline. */
export default defineFeature({
  name: 'assistants',
  needs: { ...service('config', 'database', 'log', 'newId', 'now', 'pipeline'), proposals },
  provides: (provide) => [
    provide(proposals, ({ config: { publicUrl, showsConsole }, database, newId, now, pipeline }) =>
      createProposals({
        database,
        pipeline,
        now,
        newId,
        pages: showsConsole ? `${publicUrl}/console/proposals` : undefined
      }))
  ],
  tables: { proposals: 'company' },
  migrations: {
    'assistants/001-proposals': () => import('./migrations/001-proposals.ts'),
    'assistants/002-sandbox': () => import('./migrations/002-sandbox.ts'),
    'assistants/003-proposal-keys': () => import('./migrations/003-proposal-keys.ts')
  },
  holds: ({ database }) => [proposalsHolder(database)],
  namesFiles: ({ database, now }) => proposalFileUse(database, now),
  routes: assistantsRoutes,
  before: 'listDispatches',
  permissions: {
    createProposal: proposing,
    listProposals: proposing,
    readProposal: proposing,
    sendProposal: deciding,
    declineProposal: { ...deciding, irreversible: true },
    mcp: { scopes: 'any', testable: true }
  },
  pages: proposalsPages,
  menu: [{ section: 'proposals', path: '/console/proposals', label: { en: en.proposals, fr: fr.proposals }, after: 'drafts' }],
  work: sweepProposals,
  audit: {
    'proposal.sent': { en: en.auditProposalSent, fr: fr.auditProposalSent },
    'proposal.declined': { en: en.auditProposalDeclined, fr: fr.auditProposalDeclined }
  },
  isolation: fillProposals
})
