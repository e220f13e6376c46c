import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  connection: 'Connexion',
  connectIntro: 'Le fournisseur demande son accord à la personne qui y a le compte. Enregistrez d’abord cette adresse chez lui.',
  connectConfirm: 'Relier le compte chez le fournisseur à votre entreprise ? Continuez seulement si vous l’avez demandé vous-même.',
  connect: 'Relier',
  connectAgain: 'Relier à nouveau',
  connectOneself: 'Vous agissez au nom de quelqu’un d’autre. Chacun relie lui-même un compte chez un fournisseur.',
  connectedAt: 'Relié depuis',
  redirectUri: 'Adresse de retour (redirect URI)',
  disconnectIntro: 'Sans cette connexion, ce fournisseur ne peut rien envoyer.',
  disconnect: 'Rompre la connexion',
  connection_connected: 'relié',
  connection_not_connected: 'non relié',
  connection_ended: 'rompue par le fournisseur',
  oauthApps: 'Applications OAuth',
  oauthAppsIntro: 'Certains fournisseurs connaissent ce service par une application, que vous y enregistrez pour toutes les entreprises.',
  oauthAppsNone: 'Aucun connecteur installé n’a besoin d’une application de votre part.',
  oauthAppOfTests: 'environnement de test',
  oauthAppClientId: 'Identifiant du client',
  oauthAppClientSecret: 'Secret du client',
  oauthAppKept: 'Un secret est enregistré. Laissez ce champ vide pour le garder.',
  oauthAppSave: 'Enregistrer',
  oauthAppRemove: 'Supprimer',
  oauthAppRemoveIntro: 'Les entreprises restent reliées jusqu’au renouvellement de leurs jetons.',
  oauthApp_missing: 'non enregistrée',
  oauthApp_ready: 'enregistrée',
  oauthApp_hosts_changed: 'redonnez le secret',
  oauthAppHostsChanged:
    'Le connecteur enverrait le secret à d’autres adresses que lorsque vous l’avez donné. Redonnez-le pour le permettre.',
  auditAppChanged: 'Quelqu’un a modifié l’application OAuth d’un connecteur',
  auditAppRemoved: 'Quelqu’un a supprimé l’application OAuth d’un connecteur'
}
