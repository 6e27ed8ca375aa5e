"""Words of eight languages and short word lists from which half1.py builds its test data.

NOUNS: language -> category -> pairs of (noun with article as used in a sentence, bare noun).
SAYINGS: language -> sort of sentence -> templates with {art}, {Art} and {v}.
"""

# ruff: noqa: RUF001  # quotes and signs of eight languages

from __future__ import annotations

import base64
from collections.abc import Iterator
from random import Random

LANGUAGES: tuple[str, ...] = ("en", "de", "fr", "es", "it", "pt", "ru", "zh")

Pairs = tuple[tuple[str, str], ...]

NOUNS: dict[str, dict[str, Pairs]] = {
    "en": {
        "password": (
            ("the password", "password"),
            ("my pw", "pw"),
            ("the passwd", "passwd"),
            ("the admin password", "admin password"),
            ("the root password", "root password"),
        ),
        "api_key": (("the API key", "api key"), ("my API key", "api key")),
        "token": (("the access token", "access token"), ("the token", "token"), ("my auth token", "auth token")),
        "secret": (("the client secret", "client secret"), ("the secret", "secret"), ("the secret key", "secret key")),
        "passphrase": (("the passphrase", "passphrase"), ("the key passphrase", "key passphrase")),
        "pin": (("the PIN", "pin"), ("my PIN code", "pin code")),
        "wifi": (("the wifi password", "wifi password"), ("the WLAN key", "wlan key")),
        "seed": (
            ("the seed phrase", "seed phrase"),
            ("my recovery phrase", "recovery phrase"),
            ("the wallet mnemonic", "wallet mnemonic"),
        ),
        "cookie": (("the session cookie", "session cookie"), ("my session id", "session id")),
        "private_key": (("the private key", "private key"), ("my SSH key", "ssh private key")),
        "hash": (("the password hash", "password hash"),),
        "otp": (("the TOTP secret", "totp secret"), ("the 2FA secret", "2fa secret")),
        "account_key": (("the storage account key", "storage account key"),),
    },
    "de": {
        "password": (
            ("das Passwort", "Passwort"),
            ("das Kennwort", "Kennwort"),
            ("mein PW", "PW"),
            ("das Admin-Passwort", "Admin-Passwort"),
            ("das Datenbankkennwort", "Datenbankkennwort"),
        ),
        "api_key": (("der API-Schlüssel", "API-Schlüssel"), ("mein API-Key", "API-Key")),
        "token": (("das Zugriffstoken", "Zugriffstoken"), ("der Token", "Token"), ("das Zugangstoken", "Zugangstoken")),
        "secret": (("das Client-Geheimnis", "Client-Geheimnis"), ("der geheime Schlüssel", "geheimer Schlüssel")),
        "passphrase": (("die Passphrase", "Passphrase"), ("der Kennsatz", "Kennsatz")),
        "pin": (("die PIN", "PIN"), ("meine Geheimzahl", "Geheimzahl")),
        "wifi": (("das WLAN-Passwort", "WLAN-Passwort"), ("der WLAN-Schlüssel", "WLAN-Schlüssel")),
        "seed": (("die Seed-Phrase", "Seed-Phrase"), ("meine Wiederherstellungsphrase", "Wiederherstellungsphrase")),
        "cookie": (("das Sitzungscookie", "Sitzungscookie"), ("mein Session-Cookie", "Session-Cookie")),
        "private_key": (("der private Schlüssel", "privater Schlüssel"), ("mein SSH-Schlüssel", "SSH-Schlüssel")),
        "hash": (("der Passwort-Hash", "Passwort-Hash"), ("der Kennwort-Hash", "Kennwort-Hash")),
        "otp": (("das TOTP-Geheimnis", "TOTP-Geheimnis"), ("der 2FA-Schlüssel", "2FA-Schlüssel")),
        "account_key": (("der Speicherkontoschlüssel", "Speicherkontoschlüssel"),),
    },
    "fr": {
        "password": (
            ("le mot de passe", "mot de passe"),
            ("mon mdp", "mdp"),
            ("le mot de passe admin", "mot de passe admin"),
            ("le mot de passe root", "mot de passe root"),
        ),
        "api_key": (("la clé API", "clé API"), ("ma clé d'API", "clé d'API")),
        "token": (("le jeton d'accès", "jeton d'accès"), ("le jeton", "jeton"), ("mon token", "token")),
        "secret": (("le secret client", "secret client"), ("la clé secrète", "clé secrète")),
        "passphrase": (("la phrase secrète", "phrase secrète"), ("la phrase de passe", "phrase de passe")),
        "pin": (("le code PIN", "code PIN"), ("mon code secret", "code secret")),
        "wifi": (("le mot de passe wifi", "mot de passe wifi"), ("la clé wifi", "clé wifi")),
        "seed": (
            ("la phrase de récupération", "phrase de récupération"),
            ("ma phrase mnémonique", "phrase mnémonique"),
        ),
        "cookie": (("le cookie de session", "cookie de session"), ("mon identifiant de session", "id de session")),
        "private_key": (("la clé privée", "clé privée"), ("ma clé SSH", "clé privée SSH")),
        "hash": (("le hash du mot de passe", "hash du mot de passe"),),
        "otp": (("le secret TOTP", "secret TOTP"),),
        "account_key": (("la clé du compte de stockage", "clé du compte de stockage"),),
    },
    "es": {
        "password": (
            ("la contraseña", "contraseña"),
            ("la clave", "clave"),
            ("mi contrasena", "contrasena"),
            ("la contraseña de root", "contraseña de root"),
        ),
        "api_key": (("la clave de API", "clave de API"), ("mi clave API", "clave API")),
        "token": (("el token de acceso", "token de acceso"), ("el token", "token")),
        "secret": (("el secreto del cliente", "secreto del cliente"), ("la clave secreta", "clave secreta")),
        "passphrase": (("la frase de contraseña", "frase de contraseña"), ("la frase secreta", "frase secreta")),
        "pin": (("el PIN", "PIN"), ("mi código PIN", "código PIN")),
        "wifi": (("la contraseña del wifi", "contraseña del wifi"), ("la clave wifi", "clave wifi")),
        "seed": (("la frase semilla", "frase semilla"), ("mi frase de recuperación", "frase de recuperación")),
        "cookie": (("la cookie de sesión", "cookie de sesión"),),
        "private_key": (("la clave privada", "clave privada"), ("mi clave SSH", "clave privada SSH")),
        "hash": (("el hash de la contraseña", "hash de la contraseña"),),
        "otp": (("el secreto TOTP", "secreto TOTP"),),
        "account_key": (("la clave de la cuenta de almacenamiento", "clave de la cuenta de almacenamiento"),),
    },
    "it": {
        "password": (
            ("la password", "password"),
            ("la parola d'ordine", "parola d'ordine"),
            ("la mia pwd", "pwd"),
            ("la password di root", "password di root"),
        ),
        "api_key": (("la chiave API", "chiave API"), ("la mia API key", "API key")),
        "token": (("il token di accesso", "token di accesso"), ("il token", "token")),
        "secret": (("il segreto del client", "segreto del client"), ("la chiave segreta", "chiave segreta")),
        "passphrase": (("la passphrase", "passphrase"), ("la frase segreta", "frase segreta")),
        "pin": (("il PIN", "PIN"), ("il mio codice PIN", "codice PIN")),
        "wifi": (("la password del wifi", "password del wifi"), ("la chiave wifi", "chiave wifi")),
        "seed": (("la frase di recupero", "frase di recupero"), ("la mia seed phrase", "seed phrase")),
        "cookie": (("il cookie di sessione", "cookie di sessione"),),
        "private_key": (("la chiave privata", "chiave privata"), ("la mia chiave SSH", "chiave privata SSH")),
        "hash": (("l'hash della password", "hash della password"),),
        "otp": (("il segreto TOTP", "segreto TOTP"),),
        "account_key": (("la chiave dell'account di archiviazione", "chiave account di archiviazione"),),
    },
    "pt": {
        "password": (
            ("a senha", "senha"),
            ("a palavra-passe", "palavra-passe"),
            ("minha senha", "senha"),
            ("a senha do banco", "senha do banco"),
            ("a senha do root", "senha do root"),
        ),
        "api_key": (("a chave de API", "chave de API"), ("minha chave API", "chave API")),
        "token": (("o token de acesso", "token de acesso"), ("o token", "token")),
        "secret": (("o segredo do cliente", "segredo do cliente"), ("a chave secreta", "chave secreta")),
        "passphrase": (("a frase secreta", "frase secreta"), ("a frase-senha", "frase-senha")),
        "pin": (("o PIN", "PIN"), ("meu código PIN", "código PIN")),
        "wifi": (("a senha do wifi", "senha do wifi"), ("a chave da rede sem fio", "chave da rede sem fio")),
        "seed": (("a frase semente", "frase semente"), ("minha frase de recuperação", "frase de recuperação")),
        "cookie": (("o cookie de sessão", "cookie de sessão"),),
        "private_key": (("a chave privada", "chave privada"), ("minha chave SSH", "chave privada SSH")),
        "hash": (("o hash da senha", "hash da senha"),),
        "otp": (("o segredo TOTP", "segredo TOTP"),),
        "account_key": (("a chave da conta de armazenamento", "chave da conta de armazenamento"),),
    },
    "ru": {
        "password": (
            ("пароль", "пароль"),
            ("мой пароль", "пароль"),
            ("пароль администратора", "пароль администратора"),
            ("пароль от базы", "пароль от базы"),
        ),
        "api_key": (("ключ API", "ключ API"), ("API-ключ", "API-ключ")),
        "token": (("токен доступа", "токен доступа"), ("токен", "токен")),
        "secret": (("секрет клиента", "секрет клиента"), ("секретный ключ", "секретный ключ")),
        "passphrase": (("парольная фраза", "парольная фраза"), ("кодовая фраза", "кодовая фраза")),
        "pin": (("ПИН-код", "ПИН-код"), ("мой пин-код", "пин-код")),
        "wifi": (("пароль от вайфая", "пароль от вайфая"), ("ключ Wi-Fi", "ключ Wi-Fi")),
        "seed": (("сид-фраза", "сид-фраза"), ("моя мнемоническая фраза", "мнемоническая фраза")),
        "cookie": (("сессионная кука", "сессионная кука"), ("идентификатор сессии", "идентификатор сессии")),
        "private_key": (("закрытый ключ", "закрытый ключ"), ("приватный ключ", "приватный ключ")),
        "hash": (("хеш пароля", "хеш пароля"),),
        "otp": (("секрет TOTP", "секрет TOTP"),),
        "account_key": (("ключ учётной записи хранилища", "ключ учётной записи хранилища"),),
    },
    "zh": {
        "password": (
            ("密码", "密码"),
            ("口令", "口令"),
            ("登录密码", "登录密码"),
            ("数据库密码", "数据库密码"),
            ("管理员密码", "管理员密码"),
        ),
        "api_key": (("API 密钥", "API密钥"), ("接口密钥", "接口密钥")),
        "token": (("访问令牌", "访问令牌"), ("令牌", "令牌")),
        "secret": (("客户端密钥", "客户端密钥"), ("密钥", "密钥")),
        "passphrase": (("密码短语", "密码短语"), ("口令短语", "口令短语")),
        "pin": (("PIN 码", "PIN码"), ("我的取款密码", "取款密码")),
        "wifi": (("WiFi 密码", "WiFi密码"), ("无线密码", "无线密码")),
        "seed": (("助记词", "助记词"), ("钱包助记词", "钱包助记词")),
        "cookie": (("会话 Cookie", "会话Cookie"), ("会话 ID", "会话ID")),
        "private_key": (("私钥", "私钥"), ("SSH 私钥", "SSH私钥")),
        "hash": (("密码哈希", "密码哈希"),),
        "otp": (("TOTP 密钥", "TOTP密钥"), ("两步验证密钥", "两步验证密钥")),
        "account_key": (("存储账户密钥", "存储账户密钥"),),
    },
}

SAYINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "middle": (
            "For the staging box {art} is {v} and please do not change it before Friday.",
            "I set {art} to {v} yesterday but the login still fails, any idea?",
            "{Art} is now {v}, so you can run the migration.",
        ),
        "end": (
            "Just so you know, {art} is {v}.",
            "Log in as deploy and when asked for it, {art}: {v}.",
            "I have changed it again, {art} is {v}.",
        ),
        "quoted": ("{Art} is {q}, can you put it in the config?", "Please use {q} as {art} for the tests."),
        "text_middle": (
            "I tried {v} but it did not work, so what now?",
            "Then we had this: {v} - and nothing happened.",
        ),
        "text_end": ("Here it is again: {v}.", "This is how I do it at the moment: {v}."),
        "intro": ("Here is my configuration:", "This is the file:", "Output of the last run:"),
        "after": ("Why does it fail?", "Can you fix that?", "Please clean this up."),
        "note": ("connecting to the database", "loading settings", "starting worker"),
        "states": (
            "the password is {v}",
            "my pw: {v}",
            "login with user admin and password {v}",
            "pass is {v} btw",
            "the password for the database is {v}",
            "use {v} as the password",
            "API key: {v}",
            "our access token is {v}",
            "the passphrase is {v}",
            "new password = {v}",
        ),
    },
    "de": {
        "middle": (
            "Für den Testserver ist {art} {v} und das soll bis Freitag so bleiben.",
            "{Art} lautet {v}, damit kannst du dich anmelden.",
            "Gestern wurde {art} auf {v} geändert, aber die Anmeldung klappt nicht.",
        ),
        "end": ("Nur zur Info, {art} ist {v}.", "Melde dich als deploy an, {art}: {v}.", "{Art} lautet jetzt {v}."),
        "quoted": ("{Art} lautet {q}, trag das bitte ein.", "Nimm bitte {q}, das ist {art} für die Tests."),
        "text_middle": ("Ich habe {v} probiert, aber es ging nicht.", "Danach kam das hier: {v} - und nichts geschah."),
        "text_end": ("Hier noch einmal: {v}.", "So mache ich es zurzeit: {v}."),
        "intro": ("Hier meine Konfiguration:", "Das ist die Datei:", "Ausgabe des letzten Laufs:"),
        "after": ("Warum schlägt das fehl?", "Kannst du das beheben?", "Bitte räum das auf."),
        "note": ("verbinde mit der Datenbank", "lade Einstellungen", "starte Dienst"),
        "states": (
            "das Passwort ist {v}",
            "mein PW: {v}",
            "das Kennwort lautet {v}",
            "Anmeldung mit admin, Kennwort {v}",
            "Passwort für die Datenbank: {v}",
            "nimm {v} als Passwort",
            "API-Schlüssel: {v}",
            "unser Zugriffstoken ist {v}",
            "die Passphrase lautet {v}",
            "neues Kennwort = {v}",
        ),
    },
    "fr": {
        "middle": (
            "Pour le serveur de test {art} est {v} et il ne faut pas y toucher avant vendredi.",
            "{Art} est maintenant {v}, tu peux lancer la migration.",
            "Hier {art} a été changé en {v} mais la connexion échoue encore.",
        ),
        "end": ("Pour info, {art} est {v}.", "Connecte-toi en tant que deploy, {art} : {v}.", "Au fait, {art} : {v}."),
        "quoted": ("{Art} est {q}, mets-le dans la configuration.", "Utilise {q}, c'est {art} pour les tests."),
        "text_middle": ("J'ai essayé {v} mais ça ne marche pas.", "Ensuite il y avait ceci : {v} - et plus rien."),
        "text_end": ("Le voici encore une fois : {v}.", "Voilà comment je fais : {v}."),
        "intro": ("Voici ma configuration :", "C'est le fichier :", "Sortie de la dernière exécution :"),
        "after": ("Pourquoi ça échoue ?", "Peux-tu corriger ça ?", "Merci de nettoyer."),
        "note": ("connexion à la base de données", "chargement des paramètres", "démarrage du service"),
        "states": (
            "le mot de passe est {v}",
            "mon mdp : {v}",
            "le mot de passe de la base est {v}",
            "connecte-toi avec admin, mot de passe {v}",
            "utilise {v} comme mot de passe",
            "clé API : {v}",
            "notre jeton d'accès est {v}",
            "la phrase secrète est {v}",
            "nouveau mot de passe = {v}",
        ),
    },
    "es": {
        "middle": (
            "Para el servidor de pruebas {art} es {v} y no hay que cambiarla hasta el viernes.",
            "{Art} es ahora {v}, ya puedes lanzar la migración.",
            "Ayer cambiaron {art} a {v} pero el acceso sigue fallando.",
        ),
        "end": ("Para que lo sepas, {art} es {v}.", "Entra como deploy, {art}: {v}.", "Por cierto, {art} es {v}."),
        "quoted": ("{Art} es {q}, ponla en la configuración.", "Usa {q}, que es {art} de las pruebas."),
        "text_middle": ("Probé {v} pero no funcionó.", "Luego salió esto: {v} - y nada más."),
        "text_end": ("Aquí está otra vez: {v}.", "Así lo hago ahora: {v}."),
        "intro": ("Esta es mi configuración:", "Este es el archivo:", "Salida de la última ejecución:"),
        "after": ("¿Por qué falla?", "¿Puedes arreglarlo?", "Límpialo, por favor."),
        "note": ("conectando a la base de datos", "cargando ajustes", "iniciando servicio"),
        "states": (
            "la contraseña es {v}",
            "mi clave: {v}",
            "la contraseña de la base de datos es {v}",
            "entra con admin y contraseña {v}",
            "usa {v} como contraseña",
            "clave de API: {v}",
            "nuestro token de acceso es {v}",
            "la frase secreta es {v}",
            "nueva contraseña = {v}",
        ),
    },
    "it": {
        "middle": (
            "Per il server di prova {art} è {v} e non va cambiata prima di venerdì.",
            "{Art} è ora {v}, puoi lanciare la migrazione.",
            "Ieri hanno cambiato {art} in {v} ma l'accesso non funziona.",
        ),
        "end": ("Per tua informazione, {art} è {v}.", "Entra come deploy, {art}: {v}.", "A proposito, {art} è {v}."),
        "quoted": ("{Art} è {q}, mettila nella configurazione.", "Usa {q}, è {art} per i test."),
        "text_middle": ("Ho provato {v} ma non ha funzionato.", "Poi è uscito questo: {v} - e basta."),
        "text_end": ("Eccolo di nuovo: {v}.", "Per ora faccio così: {v}."),
        "intro": ("Ecco la mia configurazione:", "Questo è il file:", "Output dell'ultima esecuzione:"),
        "after": ("Perché fallisce?", "Puoi correggerlo?", "Per favore metti in ordine."),
        "note": ("connessione al database", "caricamento impostazioni", "avvio del servizio"),
        "states": (
            "la password è {v}",
            "la mia pwd: {v}",
            "la parola d'ordine è {v}",
            "la password del database è {v}",
            "entra con admin e password {v}",
            "usa {v} come password",
            "chiave API: {v}",
            "il nostro token di accesso è {v}",
            "la frase segreta è {v}",
            "nuova password = {v}",
        ),
    },
    "pt": {
        "middle": (
            "Para o servidor de teste {art} é {v} e não pode mudar até sexta.",
            "{Art} agora é {v}, pode rodar a migração.",
            "Ontem mudaram {art} para {v} mas o login ainda falha.",
        ),
        "end": ("Só para saber, {art} é {v}.", "Entre como deploy, {art}: {v}.", "Aliás, {art} é {v}."),
        "quoted": ("{Art} é {q}, coloque na configuração.", "Use {q}, que é {art} dos testes."),
        "text_middle": ("Tentei {v} mas não funcionou.", "Depois apareceu isto: {v} - e mais nada."),
        "text_end": ("Aqui está de novo: {v}.", "Hoje faço assim: {v}."),
        "intro": ("Esta é a minha configuração:", "Este é o arquivo:", "Saída da última execução:"),
        "after": ("Por que falha?", "Você pode corrigir?", "Por favor, arrume isso."),
        "note": ("conectando ao banco de dados", "carregando configurações", "iniciando serviço"),
        "states": (
            "a senha é {v}",
            "minha senha: {v}",
            "a senha do banco de dados é {v}",
            "a palavra-passe é {v}",
            "entre com admin e senha {v}",
            "use {v} como senha",
            "chave de API: {v}",
            "nosso token de acesso é {v}",
            "a frase secreta é {v}",
            "nova senha = {v}",
        ),
    },
    "ru": {
        "middle": (
            "Для тестового сервера {art} — {v}, и до пятницы его не меняем.",
            "{Art} теперь {v}, можно запускать миграцию.",
            "Вчера поменяли, {art}: {v}, но вход всё равно не работает.",
        ),
        "end": ("Если что, {art} — {v}.", "Заходи как deploy, {art}: {v}.", "Кстати, {art} такой: {v}."),
        "quoted": ("{Art} — {q}, впиши в настройки.", "Возьми {q}, это {art} для тестов."),
        "text_middle": ("Я пробовал {v}, но не сработало.", "Потом было вот это: {v} - и тишина."),
        "text_end": ("Вот ещё раз: {v}.", "Сейчас делаю так: {v}."),
        "intro": ("Вот мои настройки:", "Это файл:", "Вывод последнего запуска:"),
        "after": ("Почему не работает?", "Можешь исправить?", "Приведи это в порядок, пожалуйста."),
        "note": ("подключение к базе данных", "загрузка настроек", "запуск службы"),
        "states": (
            "пароль {v}",
            "мой пароль: {v}",
            "пароль от базы данных: {v}",
            "пароль такой: {v}",
            "логин admin, пароль {v}",
            "используй {v} как пароль",
            "ключ API: {v}",
            "наш токен доступа — {v}",
            "парольная фраза: {v}",
            "новый пароль = {v}",
        ),
    },
    "zh": {
        "middle": (
            "测试服务器的{art}是{v}，周五之前不要改。",
            "{art}现在改成{v}，可以跑迁移了。",
            "昨天把{art}设成了 {v} ，但是还是登录不了。",
        ),
        "end": ("顺便说一下，{art}是{v}。", "用 deploy 登录，{art}：{v}。", "对了，{art}为 {v}。"),
        "quoted": ("{art}是{q}，请写进配置。", "请用{q}，这是测试用的{art}。"),
        "text_middle": ("我试过 {v} 但是不行。", "然后出现了：{v} - 就没有下文了。"),
        "text_end": ("再发一次：{v}。", "我现在是这样做的：{v}。"),
        "intro": ("这是我的配置：", "文件如下：", "上次运行的输出："),
        "after": ("为什么失败？", "能修一下吗？", "请整理一下。"),
        "note": ("正在连接数据库", "加载配置", "启动服务"),
        "states": (
            "密码是{v}",
            "我的密码：{v}",
            "数据库密码是 {v}",
            "密码为{v}",
            "用户名 admin，密码 {v}",
            "用 {v} 作为密码",
            "API密钥：{v}",
            "我们的访问令牌是{v}",
            "口令：{v}",
            "新密码={v}",
        ),
    },
}

PASSWORD_WORDS: dict[str, tuple[str, ...]] = {
    "en": ("Summer", "Dragon", "Liverpool", "Sunshine", "Monkey", "Welcome", "Falcon", "Winter"),
    "de": ("Sommer", "Fussball", "Schatz", "Hamburg", "Müller", "Käsekuchen", "Geheim", "Winter"),
    "fr": ("Soleil", "Doudou", "Marseille", "Chocolat", "Bonjour", "Été", "Loulou", "Bretagne"),
    "es": ("Verano", "Madrid", "Estrella", "Corazon", "Mariposa", "España", "Bienvenido", "Sevilla"),
    "it": ("Estate", "Juventus", "Ciao", "Amore", "Napoli", "Benvenuto", "Francesca", "Torino"),
    "pt": ("Verao", "Flamengo", "Brasil", "Coracao", "Lisboa", "Saudade", "Benfica", "Gabriel"),
    "ru": ("Spartak", "Natasha", "Privet", "Moskva", "Солнце", "Leto", "Zvezda", "Qwerty"),
    "zh": ("Woaini", "Beijing", "Zhang", "Mima", "Shanghai", "Wang", "龙年", "Xiaoming"),
}

SEED_WORDS: tuple[str, ...] = tuple(  # noqa: C409  # as its author wrote it
    [
        "abandon",
        "ability",
        "able",
        "about",
        "above",
        "absent",
        "absorb",
        "abstract",
        "absurd",
        "abuse",
        "access",
        "accident",
        "account",
        "accuse",
        "achieve",
        "acid",
        "acoustic",
        "acquire",
        "across",
        "act",
        "action",
        "actor",
        "actress",
        "actual",
        "adapt",
        "add",
        "addict",
        "address",
        "adjust",
        "admit",
        "adult",
        "advance",
        "advice",
        "aerobic",
        "affair",
        "afford",
        "afraid",
        "again",
        "age",
        "agent",
        "agree",
        "ahead",
        "aim",
        "air",
        "airport",
        "aisle",
        "alarm",
        "album",
        "bacon",
        "badge",
        "bag",
        "balance",
        "balcony",
        "ball",
        "bamboo",
        "banana",
        "banner",
        "bar",
        "barely",
        "bargain",
        "barrel",
        "base",
        "basic",
        "basket",
        "battle",
        "beach",
        "bean",
        "cabbage",
        "cabin",
        "cable",
        "cactus",
        "cage",
        "cake",
        "call",
        "calm",
        "camera",
        "camp",
        "canal",
        "cancel",
        "candy",
        "cannon",
        "canoe",
        "canvas",
        "canyon",
        "capable",
        "damage",
        "damp",
        "dance",
        "danger",
        "daring",
        "dash",
        "daughter",
        "dawn",
        "day",
        "deal",
        "debate",
        "debris",
        "decade",
        "december",
        "decide",
        "decline",
        "eager",
        "eagle",
        "early",
        "earn",
        "earth",
        "easily",
        "east",
        "easy",
        "echo",
        "ecology",
        "economy",
        "edge",
        "edit",
        "educate",
        "effort",
        "egg",
        "eight",
        "either",
        "fabric",
        "face",
        "faculty",
        "fade",
        "faint",
        "faith",
        "fall",
        "false",
        "fame",
        "family",
        "famous",
        "fan",
        "fancy",
        "fantasy",
        "farm",
        "fashion",
        "fat",
        "fatal",
        "gadget",
        "gain",
        "galaxy",
        "gallery",
        "game",
        "gap",
        "garage",
        "garbage",
        "garden",
        "garlic",
        "garment",
        "gas",
        "gasp",
        "gate",
        "gather",
        "gauge",
        "gaze",
        "habit",
        "hair",
        "half",
        "hammer",
        "hamster",
        "hand",
        "happy",
        "harbor",
        "hard",
        "harsh",
        "harvest",
        "hat",
        "have",
        "hawk",
        "hazard",
        "head",
        "health",
        "heart",
        "kangaroo",
        "keen",
        "keep",
        "ketchup",
        "kick",
        "kid",
        "kidney",
        "kind",
        "kingdom",
        "kiss",
        "kit",
        "kitchen",
        "kite",
        "kitten",
        "kiwi",
        "knee",
        "knife",
        "knock",
        "lab",
        "label",
        "labor",
        "ladder",
        "lady",
        "lake",
        "lamp",
        "language",
        "laptop",
        "large",
        "later",
        "latin",
        "laugh",
        "laundry",
        "lava",
        "lawn",
        "lawsuit",
        "layer",
        "oak",
        "obey",
        "object",
        "oblige",
        "obscure",
        "observe",
        "obtain",
        "obvious",
        "occur",
        "ocean",
        "october",
        "odor",
        "off",
        "offer",
        "office",
        "often",
        "oil",
        "okay",
        "rabbit",
        "raccoon",
        "race",
        "rack",
        "radar",
        "radio",
        "rail",
        "rain",
        "raise",
        "rally",
        "ramp",
        "ranch",
        "random",
        "range",
        "rapid",
        "rare",
        "rate",
        "rather",
        "zebra",
        "zero",
        "zone",
        "zoo",
        "velvet",
        "vendor",
        "venture",
        "venue",
        "verb",
        "verify",
        "version",
        "vessel",
        "veteran",
        "viable",
        "vibrant",
        "vicious",
    ]
)


def lines_of(block: str) -> tuple[str, ...]:
    """Lines of a block that are not blank; indentation stays, as it is part of the data."""
    return tuple(line for line in block.split("\n") if line.strip())


CODE_STAYS = r"""
password: string
password: str
password: String;
password?: string;
password: str | None = None
    password: Optional[str] = None
passwordHash: string;
readonly apiKey: string;
apiKey: string | undefined;
token: Token
token: Callable[[], str]
secret: bytes
secrets: dict[str, str]
secrets: tuple[str, ...]
private String password;
private final String apiKey;
protected char[] passphrase;
public string Password { get; set; }
public string? AccessToken { get; init; }
    Password string `json:"password"`
    APIKey   string `yaml:"api_key" env:"API_KEY"`
    Token    *oauth2.Token
pub password: SecretString,
pub api_key: Option<String>,
let token: String;
var password: String?
val token: String? = null
lateinit var apiKey: String
token = get_token()
token = await fetch_token(session)
token = self.tokenizer.next()
token = request.headers.get("Authorization")
token = tokens.pop()
token = next(tokens, None)
token := os.Getenv("TOKEN")
token := r.Header.Get("X-Auth-Token")
token, err := jwt.Parse(raw, keyFunc)
const token = await getToken();
const token = req.cookies.token;
const token = localStorage.getItem('token');
const { password, ...rest } = user;
const [password, setPassword] = useState('');
const apiKey = process.env.API_KEY;
const apiKey = config.get('apiKey');
const secret = crypto.randomBytes(32).toString('hex');
let password = document.getElementById('password').value;
password = getpass.getpass()
password = input("Password: ")
password = os.environ["DB_PASSWORD"]
password = os.environ.get("DB_PASSWORD")
password = config["database"]["password"]
password = settings.DATABASE_PASSWORD
password = form.cleaned_data["password"]
password = generate_password(length=20)
password = None
password = ""
password = ''
self.password = password
self._api_key = api_key
self.token = token or self.load_token()
this.password = password;
this.apiKey = options.apiKey;
user.password = await bcrypt.hash(password, 10);
user.set_password(password)
user.setPassword(passwordEncoder.encode(password));
if not api_key:
if not password:
if password is None:
if (!password) {
if (password !== confirmPassword) {
if (token == null) return;
if token == "" {
if len(password) < PASSWORD_MIN_LENGTH:
if [ -z "$PASSWORD" ]; then
if [[ -n "${API_TOKEN}" ]]; then
while (token != EOF) {
for token in tokens:
for (const token of tokens) {
for key, secret in secrets.items():
switch (token.type) {
case TokenType.STRING:
return token
return password == other.password;
return hmac.compare_digest(token, expected)
return { token, refreshToken };
assert token.kind is TokenKind.NAME
assert response.json()["token"]
raise ValueError("password must not be empty")
raise InvalidToken("token expired")
throw new Error('Missing API key');
throw new IllegalArgumentException("password too short");
return errors.New("invalid password")
PASSWORD_MIN_LENGTH = 12
PASSWORD_MAX_LENGTH = 128
PASSWORD_RESET_TIMEOUT = 3600
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
PASSWORD_REQUIRES_DIGIT = True
AUTH_PASSWORD_VALIDATORS = []
ACCESS_TOKEN_EXPIRE_MINUTES = 30
REFRESH_TOKEN_LIFETIME = timedelta(days=7)
TOKEN_URL = "https://auth.example.com/oauth/token"
TOKEN_BUCKET_SIZE = 100
SECRET_ROTATION_DAYS = 90
API_KEY_HEADER = "X-Api-Key"
SESSION_COOKIE_SECURE = True
SESSION_COOKIE_NAME = "sessionid"
SESSION_COOKIE_AGE = 1209600
CSRF_COOKIE_HTTPONLY = True
from secrets import token_urlsafe
from app.auth import create_access_token, verify_password
from getpass import getpass
import { Token } from './token';
import { hashPassword, comparePassword } from '../utils/password';
import secrets
import javax.crypto.SecretKey;
import java.net.PasswordAuthentication;
use crate::token::Token;
use secrecy::{ExposeSecret, SecretString};
#include "password.h"
require 'securerandom'
using System.Security.Cryptography;
class PasswordField(CharField):
class TokenExpiredError(Exception):
class ApiKeyAuth implements AuthStrategy {
interface TokenPayload { sub: string; exp: number }
type Token = { kind: TokenKind; text: string };
type Credentials = { username: string; password: string };
enum TokenKind { Ident, Number, String, Eof }
struct Token { kind: TokenKind, span: Span }
@dataclass class Token: kind: str
@app.post("/token", response_model=Token)
@PostMapping("/reset-password")
router.post('/forgot-password', forgotPassword);
path("password_reset/", views.password_reset, name="password_reset"),
get 'password/edit', to: 'passwords#edit'
parser.add_argument("--password", help="password of the database")
parser.add_argument("--token", type=str, required=True)
parser.add_argument("--api-key", default=os.getenv("API_KEY"))
flag.StringVar(&password, "password", "", "database password")
#[arg(long, env = "API_TOKEN", hide_env_values = true)]
cmd.Flags().String("token", "", "access token")
headers = {"Authorization": f"Bearer {token}"}
headers: { Authorization: `Bearer ${token}` },
headers["X-Api-Key"] = api_key
req.Header.Set("Authorization", "Bearer "+token)
request.setRequestHeader("Authorization", "Bearer " + accessToken);
-H "Authorization: Bearer $TOKEN" \
curl -H "Authorization: Bearer ${GITHUB_TOKEN}" https://api.github.com/user
curl -u "$USER:$PASSWORD" https://example.com/api
mysql -u root -p
mysql -u root -p"$MYSQL_ROOT_PASSWORD" shop
mysql -u root --password="$(cat /run/secrets/db)" shop
psql -h localhost -U app -W shop
ldapsearch -x -W -D cn=admin,dc=example,dc=org
docker login -u ci --password-stdin registry.example.com
echo "$REGISTRY_TOKEN" | docker login ghcr.io -u ci --password-stdin
read -s -p "Password: " PASSWORD
read -rsp 'Token: ' TOKEN
export API_KEY=$(pass show api/key)
export TOKEN="$(vault kv get -field=token secret/app)"
export PASSWORD
unset PASSWORD
passwd alice
sudo passwd root
ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519
ssh -i ~/.ssh/deploy_key deploy@example.com
kubectl get secret db-credentials -o yaml
kubectl create secret generic db --from-env-file=.env
kubectl describe secrets
aws secretsmanager get-secret-value --secret-id prod/db
gcloud auth print-access-token
gh auth token
gh secret list
git config credential.helper store
npm token list
op read "op://Private/db/password"
password: ${{ secrets.DB_PASSWORD }}
token: ${{ secrets.GITHUB_TOKEN }}
GITHUB_TOKEN: ${{ github.token }}
api-key: ${{ inputs.api-key }}
password: "{{ vault_db_password }}"
password: "{{ lookup('env', 'DB_PASSWORD') }}"
password: !vault |
password: {{ .Values.db.password | quote }}
password = var.db_password
password = data.vault_generic_secret.db.data["password"]
password = random_password.db.result
secretKeyRef:
secretName: db-credentials
secretKeyRef: { name: db, key: password }
      - name: DB_PASSWORD
    valueFrom: { secretKeyRef: { name: app, key: token } }
imagePullSecrets:
automountServiceAccountToken: false
POSTGRES_PASSWORD_FILE: /run/secrets/db_password
POSTGRES_PASSWORD_FILE=/run/secrets/pg
environment: [DB_PASSWORD, API_KEY]
ARG API_TOKEN
ENV PASSWORD_FILE=/run/secrets/password
RUN --mount=type=secret,id=npm_token npm ci
echo "::add-mask::$TOKEN"
System.getenv("DB_PASSWORD")
Environment.GetEnvironmentVariable("API_KEY")
std::env::var("API_TOKEN")?
ENV.fetch('SECRET_KEY_BASE')
getenv('DB_PASSWORD')
import.meta.env.VITE_API_KEY
Deno.env.get("OPENAI_API_KEY")
process.env.SECRET
System.getProperty("javax.net.ssl.keyStorePassword")
logger.debug("token refreshed for %s", user.id)
logger.info("password changed", extra={"user": user.pk})
console.log('password length', password.length);
print("Wrong password, try again.")
print(f"{len(tokens)} tokens")
tokens: 4096
max_tokens=512
max_tokens: 8192,
"token_count": 1234
"max_output_tokens": 2048,
"prompt_tokens": 57, "completion_tokens": 112, "total_tokens": 169
"usage": {"input_tokens": 2095, "output_tokens": 503}
"cache_read_input_tokens": 180345
tokens_per_second = 41.7
n_tokens = len(tokens)
num_tokens += 1
special_tokens = ["<pad>", "<eos>", "<unk>"]
pad_token_id: 0
eos_token_id = 50256
token_type = "bearer"
"token_type": "Bearer",
"expires_in": 3600,
"tokenizer_class": "LlamaTokenizer"
tokenizer.apply_chat_template(messages, tokenize=False)
tok = lexer.token()
key = "name"
key = lambda item: item.id
sorted(rows, key=itemgetter("password_changed_at"))
"key": "ArrowLeft",
primary_key=True
foreign_key: user_id
partition_key = "tenant_id"
cache_key: linux-node-20-build
sort_key: created_at
key: value
<div key={item.id} className="token-list">
pin: true
"pinned": false,
pin-project-lite = "0.2.14"
pins: [GPIO4, GPIO5]
pip: pinned to 24.0
secret: false
isSecret: true
hasPassword: true
requirePassword: false
"passwordless": true,
"password_strength": "medium",
"password_expires_in_days": 90,
"reset_password_url": "/account/reset",
show_password: no
remember_password = off
password_policy: strict
auth: none
auth_type = "basic"
authentication: required
bearer: true
credentials: include
credentials: "same-origin",
withCredentials: true,
cookie: { secure: true, maxAge: 60000 }
Set-Cookie: theme=dark; Path=/
Cookie: lang=de; theme=light
WWW-Authenticate: Basic realm="Restricted"
WWW-Authenticate: Bearer realm="api", error="invalid_token"
Access-Control-Allow-Headers: Authorization, X-Api-Key, Content-Type
Vary: Authorization, Cookie
HTTP/1.1 401 Unauthorized
psk_required = true
wpa_key_mgmt=WPA-PSK
ssid=GuestNetwork
seed = 42
random_seed: 20240501
np.random.seed(1234)
mnemonic: MOV
hash: true
hash_algorithm: sha512
password_hash_algorithm = "argon2id"
salt_rounds = 12
"""

SIGNATURE_STAYS = r"""
def login(username: str, password: str) -> Token:
def check_password(password: str, hashed: bytes) -> bool:
async def get_token(self, *, api_key: str | None = None) -> str:
def __init__(self, token: str, secret: str = "") -> None:
function login(user, password) {
async function refreshToken(token) {
export const verify = (token, secret) => jwt.verify(token, secret);
function setPassword(password = '', confirm = '') {
export function login(user: string, password: string): Promise<Token> {
async getToken(apiKey: string, secret?: string): Promise<string> {
constructor(private readonly apiKey: string, private token?: string) {}
declare function hash(password: string, salt: Buffer): Buffer;
public Token login(String username, char[] password) throws AuthException {
private static byte[] deriveKey(String passphrase, byte[] salt) {
public void setPassword(final String password) {
boolean matches(CharSequence rawPassword, String encodedPassword);
func Login(ctx context.Context, user, password string) (*Token, error) {
func (c *Client) SetToken(token string) {
func NewClient(apiKey string, opts ...Option) *Client {
func hashPassword(password []byte, cost int) ([]byte, error) {
pub fn login(user: &str, password: &SecretString) -> Result<Token, Error> {
fn parse_token(input: &str) -> IResult<&str, Token> {
pub async fn with_token(mut self, token: impl Into<String>) -> Self {
fn secret_key(&self) -> &[u8; 32];
int check_password(const char *password, size_t length);
static int next_token(struct lexer *lx, struct token *token);
bool verify_token(const std::string& token, const std::string& secret);
std::string derive_key(std::string_view passphrase, int iterations);
public async Task<Token> LoginAsync(string user, string password)
private static bool VerifyToken(string token, SecurityKey key)
public void SetApiKey(string apiKey) => _apiKey = apiKey;
internal SecretClient(Uri vaultUri, TokenCredential credential)
fun login(user: String, password: String): Token
suspend fun refresh(token: String?): Result<Token>
private fun deriveKey(passphrase: CharArray, salt: ByteArray): SecretKey
class Session(val token: String, private val secret: ByteArray)
func login(user: String, password: String) async throws -> Token {
func save(token: String, forKey key: String) -> Bool {
init(apiKey: String, session: URLSession = .shared) {
func hash(_ password: String, salt: Data) -> Data {
def login(user, password)
def initialize(api_key:, secret: nil)
def self.valid_token?(token)
attr_accessor :password, :password_confirmation
public function login(string $user, string $password): ?Token
function checkToken($token, $secret = null) {
private function setApiKey(?string $apiKey): void
protected $hidden = ['password', 'remember_token'];
def login(user: String, password: String): Future[Token]
login :: Text -> Password -> IO (Either AuthError Token)
def authenticate(conn, %{"user" => user, "password" => password}) do
Future<Token> login(String user, String password) async {
CREATE FUNCTION check_password(p_user text, p_password text) RETURNS boolean AS $$
sub login { my ($self, $user, $password) = @_;
login <- function(user, password, token = NULL) {
function login(user, password)::Token
"""

PROSE_STAYS = """
The password must be at least twelve characters long and contain a digit.
Passwords are stored as salted hashes; nobody can read them.
Please enter your password and click on Log in.
If you forgot your password, request a reset link by mail.
Never commit an API key to the repository.
The access token expires after 30 minutes and is then refreshed.
A token is a unit of text, about four characters of English.
The secret of a good test is a clear name.
The private key stays on the server; the public key may be shared.
Each request needs the header X-Api-Key with your key.
Two-factor authentication is optional but recommended.
We rotate all secrets every ninety days.
The model has a context of 200,000 tokens.
The password is stored in the keychain, not in the file.
The password is required when the account is not linked.
Your password is too short.
I have no idea where the token comes from, can you trace it?
Rename the parameter password to passphrase everywhere.
Move the API key into an environment variable.
The login fails although the password is correct.
My PIN is blocked, so I need a new card.
A passphrase of five words is easier to remember.
Ask the administrator for the wifi password.
The seed phrase consists of 12 or 24 words and must be kept offline.
Basic authentication sends the password with each request.
Das Passwort muss mindestens zwölf Zeichen lang sein.
Passwörter werden nur als Hash gespeichert.
Bitte geben Sie Ihr Kennwort ein und klicken Sie auf Anmelden.
Haben Sie Ihr Kennwort vergessen?
Das Kennwort ist abgelaufen und muss geändert werden.
Das Passwort ist falsch, obwohl ich es kopiert habe.
Der API-Schlüssel gehört nicht in das Repository.
Das Zugriffstoken läuft nach dreißig Minuten ab.
Ein Token entspricht etwa vier Zeichen.
Das Geheimnis eines guten Tests ist ein klarer Name.
Der private Schlüssel bleibt auf dem Server.
Die PIN wird nach drei Fehlversuchen gesperrt.
Lege das Passwort bitte im Schlüsselbund ab.
Wo wird das Passwort eigentlich geprüft?
Die Funktion prüft, ob ein Kennwort gesetzt ist.
Frag den Administrator nach dem WLAN-Passwort.
Benenne den Parameter passwort in kennwort um.
Alle Geheimnisse werden alle neunzig Tage erneuert.
Le mot de passe doit contenir au moins douze caractères.
Les mots de passe sont stockés sous forme de hachage.
Veuillez saisir votre mot de passe.
Mot de passe oublié ?
Le mot de passe est incorrect.
Le mot de passe est obligatoire pour se connecter.
Ne mettez jamais une clé API dans le dépôt.
Le jeton d'accès expire au bout de trente minutes.
Un jeton correspond à environ quatre caractères.
Le secret d'un bon test est un nom clair.
La clé privée reste sur le serveur.
Le code PIN est bloqué après trois essais.
Demande le mot de passe du wifi à l'administrateur.
Où le mot de passe est-il vérifié ?
La fonction vérifie que le mot de passe n'est pas vide.
Déplace la clé API dans une variable d'environnement.
La contraseña debe tener al menos doce caracteres.
Las contraseñas se guardan como hash.
Introduzca su contraseña para continuar.
¿Olvidó su contraseña?
La contraseña es incorrecta.
La contraseña es obligatoria.
No subas nunca una clave de API al repositorio.
El token de acceso caduca a los treinta minutos.
Un token equivale a unos cuatro caracteres.
El secreto de una buena prueba es un nombre claro.
La clave privada se queda en el servidor.
El PIN se bloquea tras tres intentos.
Pide la contraseña del wifi al administrador.
¿Dónde se comprueba la contraseña?
La clave está en leer bien el mensaje de error.
Mueve la clave de API a una variable de entorno.
La password deve avere almeno dodici caratteri.
Le password sono salvate come hash.
Inserisci la password per continuare.
Password dimenticata?
La password è errata.
La password è obbligatoria.
Non inserire mai una chiave API nel repository.
Il token di accesso scade dopo trenta minuti.
Un token corrisponde a circa quattro caratteri.
Il segreto di un buon test è un nome chiaro.
La chiave privata resta sul server.
Il PIN si blocca dopo tre tentativi.
Chiedi la password del wifi all'amministratore.
Dove viene controllata la password?
La parola d'ordine non può essere vuota.
Sposta la chiave API in una variabile d'ambiente.
A senha deve ter pelo menos doze caracteres.
As senhas são guardadas como hash.
Digite sua senha para continuar.
Esqueceu sua senha?
A senha está incorreta.
A senha é obrigatória.
Nunca coloque uma chave de API no repositório.
O token de acesso expira em trinta minutos.
Um token equivale a cerca de quatro caracteres.
O segredo de um bom teste é um nome claro.
A chave privada fica no servidor.
O PIN é bloqueado após três tentativas.
Peça a senha do wifi ao administrador.
Onde a senha é verificada?
A palavra-passe expirou e tem de ser alterada.
Mova a chave de API para uma variável de ambiente.
Пароль должен содержать не менее двенадцати символов.
Пароли хранятся только в виде хеша.
Введите пароль и нажмите кнопку «Войти».
Забыли пароль?
Пароль неверный, попробуйте ещё раз.
Пароль обязателен.
Никогда не храните ключ API в репозитории.
Токен доступа истекает через тридцать минут.
Один токен — это примерно четыре символа.
Секрет хорошего теста — понятное имя.
Закрытый ключ остаётся на сервере.
ПИН-код блокируется после трёх попыток.
Спроси пароль от вайфая у администратора.
Где проверяется пароль?
Функция проверяет, что пароль не пустой.
Перенеси ключ API в переменную окружения.
密码长度至少为十二个字符。
密码只以哈希形式保存。
请输入密码后点击登录。
忘记密码？
密码错误，请重试。
密码不能为空。
不要把 API 密钥提交到仓库。
访问令牌三十分钟后过期。
一个令牌大约对应四个字符。
好测试的秘诀是清楚的名字。
私钥只保存在服务器上。
输错三次后 PIN 码会被锁定。
请向管理员询问无线密码。
密码是在哪里校验的？
这个函数检查密码是否为空。
请把 API 密钥移到环境变量里。
助记词由十二或二十四个单词组成，请离线保存。
Error: invalid password for user alice
Error: token expired
ERROR 1045 (28000): Access denied for user 'app'@'localhost' (using password: YES)
ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: NO)
FATAL:  password authentication failed for user "app"
remote: Invalid username or password.
fatal: could not read Password for 'https://github.com': terminal prompts disabled
Permission denied (publickey,password).
npm ERR! 401 Unauthorized - missing authentication token
SyntaxError: Unexpected token '<', "<!DOCTYPE "... is not valid JSON
Uncaught SyntaxError: Unexpected token } in JSON at position 118
error: unexpected token: `}`
jwt.exceptions.ExpiredSignatureError: Signature has expired
KeyError: 'password'
KeyError: 'API_KEY'
AttributeError: 'NoneType' object has no attribute 'token'
TypeError: login() missing 1 required positional argument: 'password'
django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.
[sudo] password for alice:
Enter passphrase for key '/home/alice/.ssh/id_ed25519':
Enter PEM pass phrase:
alice@example.com's password:
Password:
Passwort:
Kennwort:
Mot de passe :
Contraseña:
Senha:
Пароль:
密码：
New password:
Retype new password:
passwd: password updated successfully
Your identification has been saved in /home/alice/.ssh/id_ed25519
Login Succeeded
- [ ] add a field for the password
- [x] remove the hard-coded token
## Passwords and tokens
### How to get an API key
| Field | Type | Meaning |
| password | string | password of the account |
| api_key | string | key of the API, required |
| token | string | token returned by /login |
| --password | flag | asks for the password |
# the password comes from the environment
// TODO: read the token from the keychain
/* the secret is never logged */
-- passwords are hashed by the application
<!-- token is set by the server -->
% passphrase is asked for interactively
"""

MARKUP_STAYS = """
<label for="password">Password</label>
<label for="passwort">Kennwort</label>
<label for="mdp">Mot de passe</label>
<label for="clave">Contraseña</label>
<label for="pwd">Parola d'ordine</label>
<label for="senha">Senha</label>
<label for="parol">Пароль</label>
<label for="mima">密码</label>
<input type="password" name="password" id="password" required>
<input type="password" name="passwd" autocomplete="current-password">
<input type="password" placeholder="Passwort eingeben" minlength="12">
<input type="password" placeholder="Votre mot de passe">
<input type="password" placeholder="Введите пароль">
<input type="password" placeholder="请输入密码">
<input type="text" name="api_key" aria-label="API key">
<input type="hidden" name="csrf_token" value="{{ csrf_token }}">
<meta name="csrf-token" content="<%= csrf_token %>">
<a href="/password/reset">Forgot your password?</a>
<a href="/account/tokens">Access tokens</a>
<button type="submit" class="btn btn-password">Change password</button>
<string name="password_hint">Password</string>
<string name="password_hint">Passwort</string>
<string name="token_expired">Your session has expired</string>
<password>${env.NEXUS_PASSWORD}</password>
<apiKey>${api.key}</apiKey>
<xs:element name="password" type="xs:string"/>
<xs:attribute name="token" type="xs:token" use="optional"/>
<property name="password" value="${db.password}"/>
"password": "Password",
"password": "Passwort",
"password": "Mot de passe",
"password": "Contraseña",
"password": "Пароль",
"password": "密码",
"forgotPassword": "Forgot password?",
"passwort_vergessen": "Passwort vergessen?",
"api_key_label": "API key",
"tokenExpired": "Your token has expired",
msgid "Password"
msgstr "Mot de passe"
msgstr "Contraseña"
msgstr "Пароль"
msgstr "密码"
.password-field { border: 1px solid #ccc; }
.token { color: #905; background: none; }
.token.keyword { color: #07a; }
#password:invalid { outline: 2px solid #d33; }
input[type="password"] { width: 100%; }
.secret { display: none; }
.api-key-badge::after { content: "key"; }
--token-color-primary: #1a73e8;
--password-input-height: 2.5rem;
$token-spacing-small: 4px;
@include token-style($weight: 600);
.pin { position: absolute; top: 0; }
CREATE TABLE users (id serial PRIMARY KEY, name text NOT NULL, password_hash text NOT NULL);
CREATE TABLE api_keys (id uuid PRIMARY KEY, key_hash bytea NOT NULL, created_at timestamptz);
CREATE TABLE tokens (token varchar(64) NOT NULL UNIQUE, user_id bigint REFERENCES users(id));
    password VARCHAR(255) NOT NULL,
    password_hash CHAR(60) NOT NULL,
    api_key UUID DEFAULT gen_random_uuid(),
    token TEXT NOT NULL,
    secret BYTEA,
    reset_token VARCHAR(64) DEFAULT NULL,
    pin CHAR(4) NOT NULL,
ALTER TABLE users ADD COLUMN password_changed_at timestamptz;
ALTER TABLE users DROP COLUMN password;
ALTER TABLE sessions RENAME COLUMN token TO token_hash;
CREATE INDEX idx_tokens_expires ON tokens (expires_at);
SELECT id, name FROM users WHERE password_hash IS NULL;
SELECT count(*) FROM tokens WHERE expires_at < now();
UPDATE users SET password_hash = $1 WHERE id = $2;
UPDATE users SET password = ? WHERE name = ?;
INSERT INTO users (name, password_hash) VALUES (:name, :password_hash);
DELETE FROM tokens WHERE user_id = %s;
GRANT SELECT ON users TO reader;
"password": {"type": "string", "minLength": 12},
"password": {"type": "string", "format": "password", "writeOnly": true},
"apiKey": {"type": "string", "description": "key of the API"},
"token": {"type": "string"},
"token": {"$ref": "#/components/schemas/Token"},
"secret": {"type": ["string", "null"]},
"required": ["username", "password"],
"required": ["token", "secret", "apiKey"],
"properties": {"passphrase": {"type": "string"}}
{"name": "password", "in": "formData", "type": "string"}
{"type": "apiKey", "in": "header", "name": "X-Api-Key"}
{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
{"username": "string", "password": "string"}
securitySchemes: {bearerAuth: {type: http, scheme: bearer}}
password: { type: string, format: password }
password: z.string().min(12),
password: Joi.string().required(),
password: yup.string().min(8).max(64),
password = serializers.CharField(write_only=True)
password = models.CharField(max_length=128)
password = forms.CharField(widget=forms.PasswordInput)
password = db.Column(db.String(128), nullable=False)
token = Column(String, unique=True, index=True)
password: { type: String, required: true, select: false },
string password = 2;
optional string api_key = 7;
password: String!
login(user: String!, password: String!): Token!
validates :password, length: { minimum: 12 }
t.string :password_digest, null: false
$table->string('password', 60);
"""

TOKEN_PLACEHOLDERS: tuple[str, ...] = (
    "<your-api-key>",
    "<password>",
    "<YOUR_TOKEN>",
    "${API_KEY}",
    "$DB_PASSWORD",
    "${DB_PASSWORD:?}",
    "{{ api_key }}",
    "{{password}}",
    "%PASSWORD%",
    "***",
    "********",
    "xxxx",
    "xxxxxxxxxxxx",
    "XXXXXXXX",
    "[REDACTED]",
    "<redacted>",
    "<hidden>",
    "process.env.SECRET",
    "$(cat secret.txt)",
    "${{ secrets.TOKEN }}",
    "YOUR_API_KEY",
    "your-password-here",
    "••••••••",
    "<insert token here>",
    "<Ihr-Kennwort>",
    "<votre-mot-de-passe>",
    "<tu-contraseña>",
    "<ваш-пароль>",
    "<你的密码>",
    "...",
)
PLACEHOLDER_LINES: tuple[str, ...] = (
    "password={v}",
    "API_KEY={v}",
    "token: {v}",
    '"secret": "{v}"',
    "export ACCESS_TOKEN={v}",
    "--password {v}",
    "passwort: {v}",
    "X-Api-Key: {v}",
)
PATHS = [
    "/etc/passwd",
    "/etc/shadow",
    "/run/secrets/db_password",
    "~/.ssh/id_rsa",
    "~/.aws/credentials",
    "~/.netrc",
    "~/.pgpass",
    "~/.docker/config.json",
    "src/auth/password.ts",
    "src/auth/token_service.py",
    "lib/secrets/manager.go",
    "app/models/api_key.rb",
    "tests/test_password_reset.py",
    "config/secrets.example.yml",
    "docs/how-to-get-an-api-key.md",
    "C:\\Users\\alice\\AppData\\Roaming\\tokens\\cache.bin",
    "internal/token/token.go",
    "packages/tokenizer/src/index.ts",
    "include/crypto/private_key.h",
    "templates/registration/password_change.html",
    "/var/lib/secrets/pin.db",
    "/usr/share/doc/passwdqc/README",
    "/srv/app/config/credentials.yml.enc",
    ".github/secret_scanning.yml",
]
URLS = [
    "https://example.com/password/reset",
    "https://docs.example.com/api-keys#create",
    "https://github.com/acme/password-tools",
    "https://api.example.com/v1/tokens?page=2&sort=asc",
    "https://accounts.example.com/login?next=%2Fprofile",
    "https://example.org/docs/secrets.html",
    "https://en.wikipedia.org/wiki/Password",
    "https://de.wikipedia.org/wiki/Passwort",
    "https://ru.wikipedia.org/wiki/%D0%9F%D0%B0%D1%80%D0%BE%D0%BB%D1%8C",
    "https://auth.example.com/.well-known/openid-configuration",
    "ssh://git@github.com/acme/app.git",
    "git@gitlab.com:acme/token-service.git",
    "postgresql://localhost:5432/shop",
    "postgres://app@db.internal/shop",
    "redis://localhost:6379/0",
    "mongodb://localhost:27017/test",
    "amqp://broker.internal:5672/%2F",
    "https://alice@git.example.com/team/app.git",
    "mailto:security@example.com",
    "http://localhost:3000/auth/callback",
    "https://cdn.example.com/app.3f2a9c.js",
    "https://packages.example.org/project/passlib/",
    "https://www.npmjs.com/package/jsonwebtoken",
]
PACKAGES = [
    "passlib",
    "python-jose",
    "jsonwebtoken",
    "@nestjs/jwt",
    "keytar",
    "secrecy",
    "tokio",
    "tokenizers",
    "tiktoken",
    "bcrypt",
    "argon2-cffi",
    "oauthlib",
    "authlib",
    "keyring",
    "detect-secrets",
    "password-hash",
    "rpassword",
    "pyjwt",
    "itsdangerous",
]

FIXED_STAYS: tuple[str, ...] = (
    *lines_of(CODE_STAYS),
    *lines_of(SIGNATURE_STAYS),
    *lines_of(PROSE_STAYS),
    *lines_of(MARKUP_STAYS),
)

HEX_LINES: tuple[tuple[str, int], ...] = (
    ("commit {h}", 40),
    ("Merge: {h}", 7),
    ("index {h}..0000000", 7),
    ("git checkout {h}", 12),
    ("{h} fix token refresh", 8),
    ("{h} refs/heads/main", 40),
    ("sha256:{h}", 64),
    ("{h}  dist/app-1.2.tar.gz", 64),
    ("{h} *setup.exe", 32),
    ("SHA1(app.zip)= {h}", 40),
    ("FROM alpine@sha256:{h}", 64),
    ("    --hash=sha256:{h} \\", 64),
    ('ETag: "{h}"', 32),
    ('checksum = "{h}"', 64),
    ("image: ghcr.io/acme/password-api@sha256:{h}", 64),
    ("trace_id={h}", 32),
    ("{h}  passwords.md", 128),
    ("HEAD is now at {h} remove hard-coded password", 7),
    ("uses: actions/checkout@{h}", 40),
    ("revert {h}: token rename", 10),
)
UUID_LINES: tuple[str, ...] = (
    "request_id={u}",
    '"id": "{u}",',
    "correlation-id: {u}",
    "user {u} changed the password",
    "X-Request-Id: {u}",
    "tenant_id: {u}",
    "GET /v1/users/{u}/tokens 200",
    "session started, run {u}",
    "{u}",
    "urn:uuid:{u}",
)
NUMBER_LINES: tuple[str, ...] = (
    "max_tokens={n}",
    '"total_tokens": {n},',
    "token_count: {n}",
    "password_max_age_days = {n}",
    "PIN_TIMEOUT_MS = {n}",
    "used {n} tokens in 3 requests",
    "tokens: {n}",
    "token_limit = {n}",
    "secrets found: {n}",
    "PASSWORD_HISTORY={n}",
    "API_KEY_RATE_LIMIT={n}",
    "context window: {n} tokens",
    "key_size = {n}",
    "expires_in: {n}",
)
LOG_LINES: tuple[str, ...] = (
    "user {n} logged in with password",
    "password reset mail sent to user {n}",
    "token refreshed, valid for {n} s",
    "invalid password for user {n}",
    "loaded {n} secrets from vault",
    "api key rotated for client {n}",
    "Kennwort geändert für Benutzer {n}",
    "mot de passe modifié pour l'utilisateur {n}",
    "contraseña cambiada para el usuario {n}",
    "password cambiata per l'utente {n}",
    "senha alterada para o usuário {n}",
    "пароль изменён для пользователя {n}",
    "用户 {n} 修改了密码",
    "GET /login 200 {n} ms",
    "token cache miss, size {n}",
)


def made_stays(r: Random) -> Iterator[str]:  # noqa: PLR0912  # one branch for each sort of line
    """Lines that stay and hold random numbers, digests, placeholders and the like."""

    def hexes(n: int) -> str:
        """Random hexadecimal digits."""
        return "".join(r.choice("0123456789abcdef") for _ in range(n))

    for value in TOKEN_PLACEHOLDERS:
        for line in r.sample(PLACEHOLDER_LINES, 5):
            yield line.format(v=value)
    for template, n in HEX_LINES:
        for _ in range(3):
            yield template.format(h=hexes(n))
    for template in UUID_LINES:
        for _ in range(3):
            yield template.format(u="-".join(hexes(n) for n in (8, 4, 4, 4, 12)))
    for template in NUMBER_LINES:
        for n in r.sample((8, 16, 30, 90, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 100000, 200000), 3):
            yield template.format(n=n)
    for template in LOG_LINES:
        for level in r.sample(("INFO", "DEBUG", "WARN", "ERROR"), 2):
            time = f"2024-{r.randint(1, 12):02}-{r.randint(1, 28):02}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:07Z"
            yield f"{time} {level} auth: {template.format(n=r.randint(1, 9999))}"
    for i, path in enumerate(PATHS):
        yield path
        yield ("modified:   {}", "cat {}", "key_file: {}", "Read {} first", "--password-file {}")[i % 5].format(path)
    for i, url in enumerate(URLS):
        yield url
        yield ("See {} for details.", "curl -I {}", "token_url: {}", "[docs]({})", 'url = "{}"')[i % 5].format(url)
    for i, package in enumerate(PACKAGES):
        version = f"{r.randint(0, 9)}.{r.randint(0, 40)}.{r.randint(0, 20)}"
        yield (f"{package}=={version}", f'"{package}": "^{version}",', f'{package} = "{version}"')[i % 3]
        yield f"Installing {package} ({version})"
    for _ in range(8):
        digest = base64.b64encode(r.randbytes(64)).decode()
        yield f'"integrity": "sha512-{digest}",'
        digest = base64.b64encode(r.randbytes(32)).decode()
        yield f"github.com/acme/token-{r.randint(1, 99)} v1.{r.randint(0, 9)}.0 h1:{digest}"
    for size in range(12):
        png = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + r.randbytes(40 + size)).decode()
        gif = base64.b64encode(b"GIF89a\x01\0\x01\0\x80\0\0" + r.randbytes(30 + size)).decode()
        yield f'<img alt="key icon" src="data:image/png;base64,{png}">'
        yield f"background: url(data:image/gif;base64,{gif}) no-repeat;"
    for i in range(8):
        yield f"ssh-ed25519 {'AAAAC3NzaC1lZDI1NTE5AAAAI'}{base64.b64encode(r.randbytes(33)).decode()[1:]} alice@host{i}"
        yield f"Host key fingerprint is SHA256:{base64.b64encode(r.randbytes(32)).decode().rstrip('=')}"
    for mark in ("CERTIFICATE", "PUBLIC KEY", "CERTIFICATE REQUEST", "PGP PUBLIC KEY BLOCK", "PGP SIGNED MESSAGE"):
        yield f"-----BEGIN {mark}-----"
        yield f"-----END {mark}-----"
