import { inFrench, Secret, Type } from '@dispatch/core/provider'

const qualifiedCertificate = Type.Optional(Type.Boolean({
  title: 'Qualified certificate',
  description: 'Advanced signatures need a qualified certificate (level 3), and not just an advanced one (level 2, unless set).',
  ...inFrench('Certificat qualifié',
    'Les signatures avancées demandent un certificat qualifié (niveau 3), et non seulement avancé (niveau ' +
      '2, par défaut).')
}))

export const Settings = Type.Object({
  apiKey: Secret({
    title: 'API key',
    description: 'a key of the workspace; for a sandbox one of the test environment',
    ...inFrench('Clé d’API', 'une clé de l’espace de travail ; pour les essais, une clé de l’environnement de test'),
    pattern: '^\\S+$'
  }),
  qualifiedCertificate
})

export const RequestSettings = Type.Object({ qualifiedCertificate })
