import { defineFeature, service } from '@dispatch/plugins/feature'
import { documentationRoutes } from './routes/routes.ts'
import { createDocumentation, documentation } from './service/documentation.ts'

/** The documentation at `/docs`: pages from the Markdown of the project, found and searched. */
export default defineFeature({
  name: 'documentation',
  needs: { ...service('config'), documentation },
  provides: (provide) => [provide(documentation, createDocumentation)],
  routes: documentationRoutes,
  permissions: { readDocumentation: { public: true } },
  errorPages: '/docs/errors'
})
