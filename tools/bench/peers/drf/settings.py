"""Django's settings."""

from psycopg.conninfo import conninfo_to_dict

from tools.bench.peers import environment

_told = conninfo_to_dict(environment.database_url())

SECRET_KEY = environment.secret()
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _told["dbname"],
        "USER": _told["user"],
        "HOST": _told["host"],
        "PORT": _told["port"],
        "CONN_MAX_AGE": None,
    }
}
INSTALLED_APPS = ["rest_framework", "tools.bench.peers.drf"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
ROOT_URLCONF = "tools.bench.peers.drf.views"
ALLOWED_HOSTS = ["*"]
USE_TZ = True
TIME_ZONE = "UTC"
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "UNAUTHENTICATED_USER": None,
}
