"""What others would write: Django REST framework, serializers on both sides, Django's ORM."""
