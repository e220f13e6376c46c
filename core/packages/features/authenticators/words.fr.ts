import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  factorBegin: 'Ajouter une application',
  factorScan: 'Scannez ceci avec l’application :',
  factorQr: 'Code QR pour l’application',
  factorType: 'Ou saisissez-y ce secret. Il n’est montré que cette fois.',
  factorConfirm: 'Confirmer',
  factorAgain: 'Recommencer',
  factorApp: 'Application de codes',
  factorOn: 'en place',
  factorOnIntro:
    'La connexion demande son code après le mot de passe. L’API refuse le mot de passe seul : les programmes ont des clés d’API.',
  codeOfApp: 'Code de l’application'
}
