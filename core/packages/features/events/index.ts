import { defineFeature, service } from '@dispatch/plugins/feature'
import { eventRoutes } from './routes/events.ts'

/** An event is about a dispatch of any service, or about the company. */
const reading = { roles: ['admin'], scopes: ['callbacks'], everyService: true } as const

/** What callbacks tell, for companies that ask instead: a list, and a stream. The core keeps the events. */
export default defineFeature({
  name: 'events',
  needs: service('changes', 'database'),
  routes: eventRoutes,
  before: 'listProviders',
  permissions: { listEvents: reading, followEvents: reading }
})
