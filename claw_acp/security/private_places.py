"""Places below a home directory in which programs keep credentials, or what people typed; one on each line.

And the variables that move them.
"""

from typing import Final

KEYS: Final = """
.ssh
.gnupg
.putty
.age
.config/age
.config/sops
""".strip().splitlines()

CREDENTIALS: Final = """
.aws
.azure
.oci
.aliyun
.bluemix
.boto
.s3cfg
.fly
.railway
.ngrok2
.cloudflared
.wrangler
.linode-cli
.config/gcloud
.config/doctl
.config/hcloud
.config/scw
.config/linode-cli
.config/netlify
.config/.wrangler
.config/stripe
.config/ngrok
.config/rclone
.config/heroku
.local/share/com.vercel.cli
.config/gh
.config/hub
.config/glab-cli
.config/tea
.config/op
.config/git/credentials
.git-credentials
.config/github-copilot
.claude/.credentials.json
.claude.json
.codex/auth.json
.gemini/oauth_creds.json
.local/share/opencode/auth.json
.cache/huggingface/token
.huggingface
.kaggle
.kube
.docker/config.json
.docker/contexts
.config/containers/auth.json
.config/helm/registry
.vault-token
.terraform.d/credentials.tfrc.json
.terraformrc
.pulumi/credentials.json
.databrickscfg
.snowflake
.snowsql
.netrc
.authinfo
.authinfo.gpg
.smbcredentials
.msmtprc
.mbsyncrc
.fetchmailrc
.offlineimaprc
.pgpass
.my.cnf
.mylogin.cnf
.npmrc
.pypirc
.gem/credentials
.local/share/gem/credentials
.cargo/credentials
.cargo/credentials.toml
.m2/settings-security.xml
.config/solana
.bitcoin
.ethereum
.electrum
.password-store
.local/share/keyrings
.local/share/kwalletd
.config/keepassxc
.config/Bitwarden
.config/1Password
.config/goa-1.0
.config/remmina
.local/share/remmina
.vnc
.mozilla
.thunderbird
.config/google-chrome
.config/chromium
.config/BraveSoftware
.config/microsoft-edge
.config/vivaldi
.config/opera
.config/Signal
.config/Slack
.config/discord
.local/share/TelegramDesktop
.var/app/org.mozilla.firefox
.var/app/com.google.Chrome
.var/app/org.chromium.Chromium
.var/app/com.brave.Browser
snap/firefox
snap/chromium
Library/Keychains
Library/Cookies
Library/Safari
Library/Messages
Library/Mail
Library/Application Support/Google/Chrome
Library/Application Support/BraveSoftware
Library/Application Support/Microsoft Edge
Library/Application Support/Firefox
""".strip().splitlines()

HISTORIES: Final = """
.bash_history
.zsh_history
.zhistory
.histfile
.sh_history
.ksh_history
.local/share/fish/fish_history
.local/share/atuin
.python_history
.node_repl_history
.irb_history
.psql_history
.mysql_history
.mariadb_history
.sqlite_history
.rediscli_history
.mongosh
.viminfo
.local/state/nvim/shada
""".strip().splitlines()

MOVED_BY: Final = tuple(
    (variable, place)
    for variable, place in map(
        str.split,
        """
        XDG_CONFIG_HOME .config
        XDG_DATA_HOME .local/share
        XDG_STATE_HOME .local/state
        XDG_CACHE_HOME .cache
        GNUPGHOME .gnupg
        PASSWORD_STORE_DIR .password-store
        SOPS_AGE_KEY_FILE .config/sops/age/keys.txt
        AWS_CONFIG_FILE .aws/config
        AWS_SHARED_CREDENTIALS_FILE .aws/credentials
        AWS_WEB_IDENTITY_TOKEN_FILE .aws/token
        AZURE_CONFIG_DIR .azure
        BOTO_CONFIG .boto
        CLOUDSDK_CONFIG .config/gcloud
        GOOGLE_APPLICATION_CREDENTIALS .config/gcloud/application_default_credentials.json
        OCI_CLI_CONFIG_FILE .oci/config
        RCLONE_CONFIG .config/rclone/rclone.conf
        GH_CONFIG_DIR .config/gh
        GLAB_CONFIG_DIR .config/glab-cli
        CLAUDE_CONFIG_DIR .claude
        CODEX_HOME .codex
        HF_HOME .cache/huggingface
        HF_TOKEN_PATH .cache/huggingface/token
        KAGGLE_CONFIG_DIR .kaggle
        KUBECONFIG .kube/config
        DOCKER_CONFIG .docker
        REGISTRY_AUTH_FILE .config/containers/auth.json
        HELM_REGISTRY_CONFIG .config/helm/registry/config.json
        TF_CLI_CONFIG_FILE .terraformrc
        PULUMI_HOME .pulumi
        PULUMI_CREDENTIALS_PATH .pulumi
        DATABRICKS_CONFIG_FILE .databrickscfg
        SNOWFLAKE_HOME .snowflake
        NETRC .netrc
        PGPASSFILE .pgpass
        MYSQL_TEST_LOGIN_FILE .mylogin.cnf
        NPM_CONFIG_USERCONFIG .npmrc
        npm_config_userconfig .npmrc
        CARGO_HOME .cargo
        HISTFILE .bash_history
        PYTHON_HISTORY .python_history
        NODE_REPL_HISTORY .node_repl_history
        PSQL_HISTORY .psql_history
        MYSQL_HISTFILE .mysql_history
        SQLITE_HISTORY .sqlite_history
        REDISCLI_HISTFILE .rediscli_history
        """.strip().splitlines(),
    )
)
"""Variables of programs, each with the place below the home that its value stands for."""
