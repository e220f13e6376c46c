import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  passkeyWait: 'Le mot de passe est bon. Maintenant une clé d’accès, le code que montre votre application, ou un de vos codes de secours.',
  passkeys: 'Clés d’accès',
  passkeysIntro:
    'Une clé d’accès est dans un appareil ou un gestionnaire. Elle remplace le code et, si l’appareil vous reconnaît, le mot de passe.',
  passkeyAdd: 'Ajouter une clé d’accès',
  passkeyNameHelp: 'Pour la reconnaître dans cette liste.',
  passkeyNameUsual: 'Cet appareil',
  passkeyNameFull: 'Renommer la clé d’accès {name}',
  passkeyRemove: 'Retirer',
  passkeyRemoveFull: 'Retirer la clé d’accès {name}',
  passkeyRemoveIntro: 'Elle ne vous connecte plus. Vos autres sessions se terminent.',
  passkeyFailed: 'Cela n’a pas marché : la clé d’accès n’a pas été donnée, ou pas acceptée. Rien n’a été changé.',
  passkeyScript: 'Ajouter une clé d’accès demande un navigateur avec script.',
  passkeyUse: 'Utiliser une clé d’accès',
  passkeyAlone: 'Se connecter avec une clé d’accès'
}
