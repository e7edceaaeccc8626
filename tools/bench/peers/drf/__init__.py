"""The Django REST framework peer: serializers for input and output, and Django's ORM."""
