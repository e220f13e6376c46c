import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  signOnSettings: 'Réglages de l’authentification unique',
  signOnIntro: 'Saisissez le code de votre société, ou ouvrez l’adresse que votre administrateur vous a donnée.',
  signOnCode: 'Code de la société',
  signOnPassword: 'Se connecter avec un mot de passe',
  signOnUnknownEmail: 'Cette adresse ne mène à aucune authentification unique. Saisissez le code de votre société.',
  signOnUnknownCode: 'Personne ne peut se connecter avec ce code en ce moment.',
  signOnWhose: 'Continuez seulement si c’est votre société, et si ce fournisseur connecte ses collaborateurs.',
  signOnLeaving: 'Continuer vers {host}',
  signOnOnwards: 'Continuer',
  signOnRefusedTitle: 'Vous n’êtes pas connecté',
  signOnRefused_expired: 'Cette connexion n’a pas commencé dans ce navigateur, ou il y a plus de dix minutes. Recommencez.',
  signOnRefused_issuer: 'Le fournisseur d’identité de votre société ne vous a pas admis, ou ne répond pas.',
  signOnRefused_unknown: 'Votre société n’a pas d’utilisateur pour vous ici. Demandez une invitation à un administrateur.',
  signOnRefused_taken:
    'Un utilisateur de votre société a votre adresse e-mail. Connectez-vous avec le mot de passe et liez le compte sous « Votre compte ».',
  signOnRefused_unverified:
    'Vous n’avez pas encore d’utilisateur ici, et votre fournisseur ne dit pas que votre adresse e-mail est vérifiée. Demandez une ' +
    'invitation à un administrateur.',
  signOnRefused_linked: 'Ce compte, ou cette identité, est lié à un autre.',
  signOnRefused_refused: 'Cet utilisateur est désactivé, ou ne peut pas se connecter d’ici.',
  signOnAbout:
    'Les personnes de votre société se connectent par son propre fournisseur d’identité (OpenID Connect) : Entra ID, Google, Keycloak…',
  signOnRedirect: 'Adresse de redirection à y déclarer',
  signOnRedirectOf: 'Elle est pour l’émetteur',
  signOnRedirectHelp: 'Chaque société a sa propre adresse pour chaque émetteur, à déclarer chez lui.',
  signOnShowRedirect: 'Afficher l’adresse de redirection',
  signOnOtherIssuer: 'Un autre émetteur',
  signOnMoving:
    'Votre société a désormais sa propre adresse de redirection : déclarez celle qui suit chez votre fournisseur, puis appuyez sur le ' +
    'bouton. D’ici là, l’adresse commune à toutes les sociétés sert encore, et seulement si votre fournisseur se nomme dans ses réponses ' +
    '(« iss », RFC 9207) ; avec tout autre fournisseur, personne ne peut se connecter avant que la nouvelle adresse soit déclarée.',
  signOnSharedRedirect: 'L’adresse commune',
  signOnSharedUntil: 'Elle sert jusqu’au',
  signOnMoved: 'La nouvelle adresse est déclarée',
  signOnAddress: 'Adresse de connexion',
  signOnLinkedUsers: 'Utilisateurs que le fournisseur connaît',
  signOnIssuer: 'Émetteur (issuer)',
  signOnIssuerHelp: 'L’adresse https sous laquelle le fournisseur publie sa configuration.',
  signOnClientId: 'Identifiant du client',
  signOnClientSecret: 'Secret du client',
  signOnSecretSet: 'défini ; vide : inchangé',
  signOnCreates: 'Créer un utilisateur à la première connexion',
  signOnCreatesHelp:
    'Pour qui le fournisseur admet et que personne ne connaît ici, avec une adresse e-mail qu’il a vérifiée et qui n’est à aucune autre ' +
    'société.',
  signOnRole: 'Rôle d’un tel utilisateur',
  signOnTrusts: 'Créer aussi si le fournisseur ne dit pas que l’adresse est vérifiée',
  signOnTrustsHelp: 'Entra ID ne le dit pas. À cocher seulement si l’on ne choisit pas soi-même l’adresse que votre fournisseur donne.',
  signOnByEmail: 'Reconnaître les utilisateurs à leur adresse e-mail vérifiée',
  signOnByEmailHelp:
    'À leur première connexion par le fournisseur. Sinon, ils lient leur compte eux-mêmes, connectés avec le mot de passe.',
  signOnRequired: 'Exiger l’authentification unique',
  signOnRequiredHelp:
    'La console refuse mots de passe et clés d’accès, sauf les vôtres : l’accès de secours si le fournisseur ne répond pas. Les ' +
    'programmes ne sont pas concernés.',
  signOnSaved: 'La modification est enregistrée.',
  signOnRemove: 'Retirer l’authentification unique',
  signOnRemoveIntro: 'On se connecte de nouveau avec un mot de passe. Qui n’en a pas a besoin d’un lien pour un nouveau mot de passe.',
  signOnLink: 'Lier mon compte',
  signOnLinkIntro: 'Votre compte n’est pas lié au fournisseur d’identité de votre société.',
  signOnByAddress: 'Adresse e-mail dans votre société',
  signOnByCode: 'Saisir le code de la société',
  signOnLinkAsk: 'Lier {name} de {host} à votre compte ici ? Vous pourrez alors vous connecter avec l’un ou l’autre.',
  signOnUnlink: 'Délier le compte',
  signOnUnlinkOwnIntro: 'Vous vous connecterez avec votre mot de passe. Vos autres sessions et tous les jetons se terminent.',
  signOnUnlinkIntro:
    'Le fournisseur d’identité de votre société ne connecte plus cet utilisateur, tant qu’il n’est pas lié à nouveau. Toutes ' +
    'ses sessions et ses jetons se terminent.',
  signOnLinked: 'Votre compte est lié au fournisseur d’identité de votre société.'
}
